#include "reports/gate/waivers.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tally::waivers_test {
namespace {

constexpr const char* whole = R"(# known failures
[[xfail]]
law = "window_*"  # a pattern
precision = "bf16"
reason = "says \"no\" \\ yet"
link = "https://example.org/issues/7#comment"
expires = 2028-02-29

[[xfail]]
law = "order"
case = "21ab679519de"
reason = "r"
link = "l"
expires = 2027-12-31
)";

std::string complaint(const std::string& toml) {
  try {
    waivers_of_toml(toml, "w.toml");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::string with(const std::string& line) {
  return "[[xfail]]\nlaw = \"a\"\nreason = \"r\"\nlink = \"l\"\nexpires = 2027-01-01\n" + line;
}

TEST(Waivers, AreReadWithTheirCommentsAndEscapes) {
  const auto waivers = waivers_of_toml(whole);
  ASSERT_EQ(waivers.size(), 2u);
  EXPECT_EQ(waivers[0].law, "window_*");
  EXPECT_EQ(waivers[0].reason, "says \"no\" \\ yet");
  EXPECT_EQ(waivers[0].link, "https://example.org/issues/7#comment");
  EXPECT_EQ(waivers[0].text(), "line 2: window_*, bf16");
  EXPECT_EQ(waivers[1].id, "21ab679519de");
  EXPECT_TRUE(waivers_of_toml("").empty());
}

TEST(Waivers, HoldNoControlCharactersAndAreNotEndless) {
  EXPECT_NE(complaint(with(std::string("case = \"*\0x\"", 12))).find("no control characters"), std::string::npos);
  EXPECT_NE(complaint(with("case = \"\x1b[2J\"")).find("no control characters"), std::string::npos);
  std::string many;
  for (int i = 0; i <= 10'000; ++i) many += with("\n");
  EXPECT_NE(complaint(many).find("at most 10000"), std::string::npos);
}

TEST(Waivers, CoverByPattern) {
  const auto waivers = waivers_of_toml(whole);
  CaseRecord c;
  c.law = "window_batch_norm", c.precision = "bf16", c.id = "1";
  EXPECT_TRUE(waivers[0].covers(c));
  c.precision = "fp16";
  EXPECT_FALSE(waivers[0].covers(c));
  c.law = "order";
  EXPECT_FALSE(waivers[1].covers(c));
}

TEST(Waivers, AreRefusedWithTheirLine) {
  EXPECT_EQ(complaint(with("")), "");
  EXPECT_EQ(complaint("law = \"a\""), "w.toml:1: found 'law = \"a\"', expected [[xfail]] before the first key");
  EXPECT_NE(complaint("[[skip]]").find("w.toml:1: found '[[skip]]', expected [[xfail]]"), std::string::npos);
  EXPECT_NE(complaint(with("lwa = \"b\"")).find("w.toml:6: found 'lwa'"), std::string::npos);
  EXPECT_NE(complaint(with("law = \"b\"")).find("every key once"), std::string::npos);
  EXPECT_NE(complaint(with("case = 7")).find("text in double quotes"), std::string::npos);
  EXPECT_NE(complaint(with("case = \"7")).find("a closing quote"), std::string::npos);
  EXPECT_NE(complaint(with("case = \"7\" 8")).find("nothing after the value"), std::string::npos);
  EXPECT_NE(complaint(with("case = \"\\n\"")).find("only escapes"), std::string::npos);
  EXPECT_NE(complaint(with("[[xfail]]\nlaw = \"b\"")).find("w.toml:6: found an xfail without reason"),
            std::string::npos);
}

TEST(Waivers, KnowTheCalendar) {
  for (const char* day : {"2027-02-28", "2028-02-29", "2000-02-29"}) EXPECT_TRUE(is_day(day)) << day;
  for (const char* day : {"2027-02-29", "2027-13-01", "2027-00-10", "2027-1-1", "27-01-01", "2027-01-0x", ""})
    EXPECT_FALSE(is_day(day)) << day;
  EXPECT_TRUE(is_day(today()));
}

}  // namespace
}  // namespace tally::waivers_test
