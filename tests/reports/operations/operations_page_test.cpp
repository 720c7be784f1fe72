#include "reports/operations/operations_page.hpp"

#include <gtest/gtest.h>

#include "tests/reports/samples/operations.hpp"

namespace tally::operations_page_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(OperationsPage, SaysWhatIsWrongBeforeAllElse) {
  const std::string page = operations_html(samples::wrong_operations(), "out/run", "out/run/repeat_operation_16.py");
  EXPECT_TRUE(has(page,
                  "<h1><span class=\"word\">\u2717 FAIL</span> addmm leaves values outside of what any order of "
                  "additions and roundings can leave; 2 operations fail in all: addmm 1, mm 1</h1>"));
  EXPECT_TRUE(has(page, "First: operation 16, aten.addmm.default, forward at train.py:17 in forward, module h.0"));
  EXPECT_TRUE(has(page, "Held to the standard profile, as nothing is known of pytorch-cpu-1.13"));
  EXPECT_TRUE(has(operations_html(samples::right_operations(), "out"),
                  "\u2713 PASS</span> all 30 operations that were judged left what they may leave</h1>"));
  EXPECT_TRUE(has(operations_html({}, "out"), "\u2013 NOT JUDGED</span> no operation of the recording"));
}

TEST(OperationsPage, FramesTheFirstFailure) {
  const std::string page = operations_html(samples::wrong_operations(), "out/run", "out/a b.py");
  const auto from = page.find("<article>"), to = page.find("</article>");
  ASSERT_NE(from, std::string::npos);
  const std::string framed = page.substr(from, to - from);
  for (const char* part :
       {"<dt>Operation</dt><dd>16, aten.addmm.default</dd>", "<dt>Phase</dt><dd>forward, step 1</dd>",
        "<dt>Line</dt><dd><code>train.py:17 in forward</code></dd>", "<dt>Module</dt><dd><code>h.0</code></dd>",
        "result [2, 3] float32, element [1, 2]: found 1.5, expected 1.25 \u00B1 0.0208 (12 times what is allowed); 2 "
        "of 6 elements are wrong",
        "<th scope=\"row\">[1, 2]</th><td>1.5</td><td>1.25</td><td>\u00B1 0.0208</td><td>12</td>",
        "python3 &#39;out/a b.py&#39;", "tally check-operations out/run --operation 16"})
    EXPECT_TRUE(has(framed, part)) << part;
  EXPECT_TRUE(has(page, "20 mm</th><td class=\"t\">computes less precisely than float32 does</td>"));
  EXPECT_TRUE(has(page, "aten.log.default, forward at train.py:17"));
  EXPECT_FALSE(has(operations_html(samples::right_operations(), "out"), "<article>"));
}

TEST(OperationsPage, SortsByWhatMattersAndFoldsTheRest) {
  const std::string page = operations_html(samples::many_operations(), "out");
  const auto modules = page.find("id=\"modules\""), fold = page.find("<summary>and 189 more</summary>");
  ASSERT_NE(fold, std::string::npos);
  EXPECT_LT(page.find("<th scope=\"row\">h.0</th>", modules), page.find(">layers.0.attention", modules));
  EXPECT_LT(page.find(">layers.0.attention", modules), fold);
  EXPECT_GT(page.find(">layers.199.attention", modules), fold);
  EXPECT_TRUE(has(page, "<summary>and 39 more</summary>"));
  EXPECT_TRUE(has(page, "And 350 operations more"));
  EXPECT_TRUE(has(page, "the profile of standard, with 30 claims"));
  EXPECT_TRUE(has(page, "<th scope=\"row\">function0/float32/ulps</th>"));
}

TEST(OperationsPage, HasColumnsOnlyForWhatThereIs) {
  EXPECT_TRUE(has(operations_html(samples::wrong_operations(), "out"), ">Undecided</th>"));
  EXPECT_FALSE(has(operations_html(samples::right_operations(), "out"), ">Undecided</th>"));
}

TEST(OperationsPage, NamesWhatIsNotJudgedWithItsLineAndWhatToDo) {
  const std::string page = operations_html(samples::right_operations(), "out");
  EXPECT_TRUE(has(page, "<th scope=\"row\">no rule for mylib.twice.default</th><td>2</td>"));
  EXPECT_TRUE(has(page, "7 mylib.twice<small>forward at mylib/ops.py:15 in f, step 0</small>"));
  EXPECT_TRUE(has(page, "a custom operation: test it against a reference of its own"));
  EXPECT_TRUE(has(page, "<li>a CUDA graph is replayed"));
  EXPECT_TRUE(has(page, "--profile FILE"));
}

TEST(OperationsPage, RunsNothingThatANameHolds) {
  const std::string page = operations_html(samples::hostile_operations(), "<b>\"", "<i>'");
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "<b>"));
  EXPECT_FALSE(has(page, "<i>"));
  EXPECT_FALSE(has(page, "\x1b"));
  EXPECT_TRUE(has(page, "Note: the recording has no end: the run was killed"));
  EXPECT_TRUE(has(page, "a share of 0.25 was recorded: 40 of 40 operations"));
}

}  // namespace
}  // namespace tally::operations_page_test
