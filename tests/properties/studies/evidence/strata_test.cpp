#include "properties/lab/evidence/strata.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tally::strata_test {
namespace {

/// The strata of a made-up case: two labels, one of them its own.
Strata part(std::uint64_t number, double worst) {
  Strata strata;
  for (const Labels& labels : {Labels{"all"}, Labels{"stage", "local", "fp32", "part " + std::to_string(number % 2)}}) {
    Stratum& s = strata.at(labels);
    s.cases = 1;
    s.checks = 10 + number;
    s.alarms = number == 2;
    s.vacuous = number;
    s.refused = number == 3;
    s.least_chance = -static_cast<double>(number) / 3;
    s.ratios.add(worst / 2);
    s.ratios.add(worst);
    s.see_worst(worst, number, "w0/norm/norm");
  }
  return strata;
}

Strata merged(Strata a, const Strata& b) {
  a.merge(b);
  return a;
}

TEST(Strata, AddUpToTheSameWholeInAnyGroupingAndOrder) {
  const Strata a = part(1, 0.25), b = part(2, 0.75), c = part(3, 0.75);

  const Strata whole = merged(merged(a, b), c);

  EXPECT_EQ(merged(a, merged(b, c)), whole);
  EXPECT_EQ(merged(merged(c, b), a), whole);
  EXPECT_EQ(whole.sum({"all"}).cases, 3u);
  EXPECT_EQ(whole.sum({"all"}).checks, 36u);
  EXPECT_EQ(whole.sum({"all"}).refused, 1u);
  EXPECT_EQ(whole.sum({"all"}).least_chance, -1);
  EXPECT_EQ(whole.sum({"all"}).worst_case, 2u) << "of equal ratios the first case";
}

TEST(Strata, ReadBackFromTheirText) {
  Strata strata = merged(part(1, 0.25), part(2, 1.0 / 3));
  strata.at({"alarm", "local", "w0/m1/backward/d.fc1.weight", "tly1:abc"})
      .see_worst(std::numeric_limits<double>::infinity(), 7, "a tap with spaces");

  EXPECT_EQ(strata_of_text(text_of(strata)), strata);
  EXPECT_TRUE(strata_of_text("").all().empty());
}

TEST(Strata, RefuseTextThatIsCutShortOrGarbled) {
  const std::string text = text_of(part(1, 0.25));

  EXPECT_THROW(strata_of_text(text.substr(0, text.rfind('\n', text.size() - 2) + 1)), std::runtime_error);
  EXPECT_THROW(strata_of_text("all\n1 2 three\n\n"), std::runtime_error);
  EXPECT_THROW(strata_of_text("all\n1 0 0 1 0 0 0 1 0x0p+0 0x1p-1 0 tap\n99999 1\n"), std::runtime_error);
}

TEST(Strata, SumWhatBeginsAlikeAndListWhatFollows) {
  const Strata strata = merged(part(1, 0.25), part(2, 0.5));

  EXPECT_EQ(strata.next({"stage", "local", "fp32"}), (std::vector<std::string>{"part 0", "part 1"}));
  EXPECT_EQ(strata.parts("local"), (std::vector<std::string>{"part 0", "part 1"}));
  EXPECT_EQ(strata.sum({"stage", "local"}).checks, 23u);
  EXPECT_EQ(strata.sum({"stage", "local", "fp32", "part 0"}).checks, 12u);
  EXPECT_EQ(strata.sum({"none"}).checks, 0u);
}

}  // namespace
}  // namespace tally::strata_test
