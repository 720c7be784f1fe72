#include "reports/vary/vary_page.hpp"

#include <gtest/gtest.h>

#include "tests/reports/samples/varied.hpp"

namespace tally::vary_page_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(VaryPage, SaysTheVerdictWhatToChangeAndWhere) {
  const std::string wrong = vary_html(samples::wrong_loop());
  EXPECT_TRUE(
      has(wrong,
          "<h1><span class=\"word\">\u2717 FAIL</span> micro-batches of 6, 2 rows do not match the whole batch</h1>"));
  EXPECT_TRUE(
      has(wrong, "<p class=\"bad\">Each micro-batch&#39;s loss is divided by its own 2 rows and by K = 2.</p>"));
  EXPECT_TRUE(
      has(wrong, "<strong>What to change: </strong>divide by the window&#39;s 8: <code>loss.sum() / 8</code>, or"));
  EXPECT_TRUE(has(wrong, "At train.py:31 <code>loss.backward()</code>"));
  EXPECT_TRUE(has(vary_html(samples::right_loop()), "\u2713 PASS</span> the micro-batches match the whole batch</h1>"));
}

TEST(VaryPage, HasARowForEachPartitionWithItsRatioAndKind) {
  const std::string page = vary_html(samples::wrong_loop());
  EXPECT_TRUE(has(page,
                  "<th scope=\"row\">3, 3, 2</th><td>0.25</td><td>0.25</td><td>1</td>"
                  "<td class=\"t s fail tint-fail\">\u2717 meaning</td>"));
  EXPECT_TRUE(
      has(page, "<td>not finite</td><td>0.125</td><td></td><td class=\"t s fail tint-fail\">\u2717 not finite</td>"));
  const std::string right = vary_html(samples::right_loop());
  EXPECT_TRUE(has(right, "tint-vacuous\">\u25CB decision</td>"));
  EXPECT_TRUE(has(right, "<small>the whole batch is not finite in float32 either</small>"));
}

TEST(VaryPage, HasWeightsOnlyWhereTheyWereFound) {
  const std::string page = vary_html(samples::wrong_loop());
  EXPECT_TRUE(has(page, "<th scope=\"row\">1</th><td>2</td><td>0.25</td><td>0.125</td><td>2</td>"));
  EXPECT_TRUE(has(page, "window 0&#39;s gradient"));
  EXPECT_FALSE(has(vary_html(samples::right_loop()), "id=\"weights\""));
}

TEST(VaryPage, PutsTheLargestTensorFirstAndFoldsTheRest) {
  const std::string page = vary_html(samples::large_loop(1000));
  const auto fold = page.find("<summary>and 992 smaller ones</summary>");
  ASSERT_NE(fold, std::string::npos);
  EXPECT_LT(page.find("model.fc1.weight</th>"), page.find("blocks.1.attention"));
  EXPECT_LT(page.find("blocks.1.attention"), fold);
  EXPECT_GT(page.find("blocks.999.attention"), fold);
  EXPECT_TRUE(has(page, "512 \u00D7 1</th>"));
}

TEST(VaryPage, RunsNothingThatANameHolds) {
  const std::string page = vary_html(samples::hostile_loop());
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "\x1b"));
  EXPECT_EQ(page, vary_html(samples::hostile_loop()));
}

}  // namespace
}  // namespace tally::vary_page_test
