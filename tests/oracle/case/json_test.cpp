#include "oracle/case/file/json.hpp"

#include <gtest/gtest.h>

#include "oracle/case/file/findings.hpp"

namespace tally::json_test {
namespace {

TEST(Json, KeepsNumbersAsTheyAreWritten) {
  Findings findings;
  const auto json = parse_json("[-0, 1e299, 0.10, 123456789012345678901234567890, \"1e5\"]", findings);

  ASSERT_TRUE(json && findings.empty());
  EXPECT_EQ(json->items[0].text, "-0");
  EXPECT_EQ(json->items[1].text, "1e299");
  EXPECT_EQ(json->items[2].text, "0.10");
  EXPECT_EQ(json->items[3].text, "123456789012345678901234567890");
  EXPECT_TRUE(json->items[4].is(Json::Kind::string));
}

TEST(Json, ReportsDuplicateKeysAtEveryDepthAndReadsOn) {
  Findings findings;
  const auto json = parse_json(R"({"a": [{"b": 1, "b": 2}], "c d": {"x": 1e999, "x": 0}})", findings);

  ASSERT_TRUE(json);
  ASSERT_EQ(findings.errors().size(), 3u);
  EXPECT_EQ(findings.errors()[0].path, "$.a[0].b");
  EXPECT_EQ(findings.errors()[1].path, "$['c d'].x");
  EXPECT_EQ(findings.errors()[2].path, "$['c d'].x");
}

TEST(Json, SaysWhereTextIsMalformed) {
  Findings findings;

  EXPECT_FALSE(parse_json("{\n  \"a\": 1000000,\n  \"b\" 2\n}", findings));
  ASSERT_EQ(findings.errors().size(), 1u);
  EXPECT_EQ(findings.errors()[0].found, "\"2\\n}\" on line 3, column 7");
  Findings behind_numbers;
  EXPECT_FALSE(parse_json("[1000, 12 3456]", behind_numbers));
  EXPECT_FALSE(parse_json("[-0.25,\n1.5e-300x]", behind_numbers));
  ASSERT_EQ(behind_numbers.errors().size(), 2u);
  EXPECT_EQ(behind_numbers.errors()[0].found, "\"6]\" on line 1, column 14");
  EXPECT_EQ(behind_numbers.errors()[1].found, "\"x]\" on line 2, column 9");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text :
       {"",      "{",         "[1,]",     "{\"a\":}", "[1 2]", "[-]",     "[+1]", "[1.]", "[.5]", "[01]", "[-Infinity]",
        "[NaN]", "\"\\u12\"", "\"\xff\"", "[1]x",     "nul",   "// a\n1", "'a'",  "[1e]", "\"a"}) {
    Findings findings;
    parse_json(text, findings);
    EXPECT_FALSE(findings.empty()) << text;
  }
}

TEST(Json, WritesKeysSortedAndScalarsOnOneLine) {
  Findings findings;
  const auto json = parse_json(R"({"b": [[1, 2], [3]], "a": {"c": "\u00e9\n", "B": null}, "d": []})", findings);

  EXPECT_EQ(to_text(*json, JsonLayout::compact),
            "{\"a\":{\"B\":null,\"c\":\"\xc3\xa9\\n\"},\"b\":[[1,2],[3]],\"d\":[]}\n");
  EXPECT_EQ(
      to_text(*json, JsonLayout::readable),
      "{\n  \"a\": {\n    \"B\": null,\n    \"c\": \"\xc3\xa9\\n\"\n  },\n  \"b\": [[1, 2], [3]],\n  \"d\": []\n}\n");
}

TEST(Json, QuotesKeysInPathsThatAreNoIdentifiers) {
  EXPECT_EQ(member_path("$", "a_1"), "$.a_1");
  EXPECT_EQ(member_path("$.tensors", "fc1.weight"), "$.tensors['fc1.weight']");
  EXPECT_EQ(member_path("$", ""), "$['']");
}

}  // namespace
}  // namespace tally::json_test
