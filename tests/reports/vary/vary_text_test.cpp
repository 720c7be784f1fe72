#include <gtest/gtest.h>

#include "reports/vary/vary_page.hpp"
#include "tests/reports/samples/varied.hpp"

namespace tally::vary_text_test {
namespace {

TEST(VaryText, SaysWhatIsWrongThenWhatToChangeThenWhereThenTheNumbers) {
  const std::string text = vary_text(samples::wrong_loop());
  EXPECT_TRUE(
      text.starts_with("fail: each micro-batch's loss is divided by its own 2 rows and by K = 2\n"
                       "change: divide by the window's 8: `loss.sum() / 8`, or weigh each mean by its own rows / 8\n"
                       "at train.py:31 `loss.backward()`\n"
                       "Micro-batches of 6, 2 rows end 0.125"))
      << text;
  EXPECT_TRUE(text.ends_with("note: dropout was dealt by rows\n")) << text;
}

TEST(VaryText, OfAPassSaysHowFarEachTensorDrifts) {
  const std::string text = vary_text(samples::right_loop());
  EXPECT_NE(
      text.find("drift in float32: model.fc1.weight 1.19e-07, model.fc1.bias 5.96e-08, model.fc2.weight 2.98e-08\n"),
      std::string::npos)
      << text;
}

TEST(VaryText, SaysNothingOfAPrecisionThatWasNotRun) {
  EXPECT_NE(vary_text(samples::right_loop()).find("2, 2, 2, 2              2.22e-16                      rounding"),
            std::string::npos)
      << vary_text(samples::right_loop());
}

TEST(VaryText, NamesWhatIsMissing) {
  VaryReport report;
  report.verdict = "asks", report.asks.runs = {{.precision = "float64"}, {.sizes = {4, 4}, .precision = "float32"}};
  EXPECT_EQ(vary_text(report),
            "not judged yet: runs are missing (the whole batch in float64; 4, 4 in float32): `tally_recorder.vary` "
            "makes them\n");
}

TEST(VaryText, OfManyMicroBatchesIsShort) {
  EXPECT_EQ(sizes_text({}), "the whole batch");
  EXPECT_EQ(sizes_text(Partition(512, 1)), "512 \u00D7 1");
  EXPECT_EQ(sizes_text({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4}), "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \u2026 (13)");
  Partition of_ranks{2, 2, 2, 2};
  of_ranks.ranks = 2;
  EXPECT_EQ(sizes_text(of_ranks), "2, 2 on each of 2 ranks");
  EXPECT_EQ(partition_text(of_ranks), "2 ranks with micro-batches of 2, 2 rows");
}

}  // namespace
}  // namespace tally::vary_text_test
