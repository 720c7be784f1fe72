// Causes that lie elsewhere than in the weights of the micro-batches.
#include <gtest/gtest.h>

#include "properties/diagnosis/vary/vary_verdict.hpp"
#include "tests/properties/vary/small_loop.hpp"

namespace tally::causes_beside_weights_test {
namespace {

using samples::judged;
using samples::loop_of;
using samples::run_in;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(CausesBesideWeights, TellsASecondCauseBesideBatchNorm) {
  const VaryReport report = judged(loop_of("batch_norm and mean of means"));

  EXPECT_EQ(report.cause, "batch_norm") << report.sentence();
  EXPECT_EQ(report.partition, (Partition{4, 4}));
  EXPECT_TRUE(has(report.what, "BatchNorm1d bn1 sees each micro-batch by itself")) << report.what;
  EXPECT_TRUE(has(report.what, "rows differ as well: each micro-batch's loss is divided by its own ")) << report.what;
  EXPECT_TRUE(has(report.change, "GroupNorm or LayerNorm")) << report.change;
  EXPECT_TRUE(has(report.change, "; divide by the window's 8")) << report.change;
}

TEST(CausesBesideWeights, TellsASpectralNormFromLayersThatSeeRows) {
  VaryRuns runs;
  judged(loop_of("batch_norm"), runs);
  runs.layers = {"SpectralNorm conv"};
  EXPECT_EQ(vary_verdict(runs).cause, "spectral norm");
  EXPECT_EQ(vary_verdict(runs).what,
            "SpectralNorm conv is updated by every forward pass, 2 times per window in place of once");
  EXPECT_FALSE(has(vary_verdict(runs).change, "GroupNorm"));
  runs.layers = {"BatchNorm1d bn1", "SpectralNorm conv"};
  EXPECT_EQ(vary_verdict(runs).cause, "batch_norm");
}

TEST(CausesBesideWeights, TellsOptionsWhereTheGradientIsRight) {
  VaryRuns runs;
  const HowRun whole{.precision = "float64"};
  const HowRun parted{.sizes = judged(loop_of("mean of means"), runs).partition, .precision = "float64"};
  for (VaryWeights& weights : runs.weights) weights.found = weights.meant;
  run_in(runs, whole).options = {{{{"lr", 0.1}, {"momentum", 0.9}}, {{"lr", 0.1}}}};
  run_in(runs, parted).options = {{{{"lr", 0.1}, {"momentum", 0.9}}, {{"lr", 0.05}}}};
  const VaryReport report = vary_verdict(runs);

  EXPECT_EQ(report.cause, "options") << report.sentence();
  EXPECT_EQ(report.what, "step 1 of window 0 uses lr = 0.05, the whole batch's uses 0.1");
  run_in(runs, parted).options[0][1][0].value = 0.1 * (1 + 0x1p-40);
  EXPECT_NE(vary_verdict(runs).cause, "options") << "a rate that follows the gradient rounds";
  run_in(runs, parted).options[0][1][0].value = 0.1 * (1 + 0x1p-20);
  EXPECT_TRUE(has(vary_verdict(runs).what, "lr = 0.1000001, the whole batch's uses 0.1")) << vary_verdict(runs).what;
}

TEST(CausesBesideWeights, SaysOfWeightsAndOptionsTheWeightsFirst) {
  VaryRuns runs;
  const HowRun whole{.precision = "float64"};
  const HowRun parted{.sizes = judged(loop_of("mean of means"), runs).partition, .precision = "float64"};
  run_in(runs, whole).options = {{{{"lr", 0.1}}}};
  run_in(runs, parted).options = {{{{"lr", 0.2}}}};
  const VaryReport report = vary_verdict(runs);

  EXPECT_EQ(report.cause, "1/(K n_k)") << report.sentence();
  EXPECT_EQ(report.notes.front(), "step 0 of window 0 uses lr = 0.2, the whole batch's uses 0.1");
}

TEST(CausesBesideWeights, FailsAStepThatIsHandedWhatTheOneBeforeItLeft) {
  VaryRuns runs;
  judged(loop_of("right"), runs);
  for (VaryRun& run : runs.runs) run.uncleared = {1};
  const VaryReport report = vary_verdict(runs);

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "stale gradient");
  EXPECT_TRUE(has(report.what, "1 times window 0's gradient")) << report.what;
}

TEST(CausesBesideWeights, TellsAGradientThatStaysInTheWholeBatchFromRowsThatSeeEachOther) {
  VaryRuns runs;
  judged(loop_of("stale"), runs);
  for (VaryWeights& weights : runs.weights) weights.meant_rest = weights.how.window == 1 ? 0.5 : 0;

  EXPECT_EQ(vary_verdict(runs).cause, "rows see each other");
  run_in(runs, {.precision = "float64"}).uncleared = {1};
  EXPECT_EQ(vary_verdict(runs).cause, "stale gradient");
}

TEST(CausesBesideWeights, TellsWhatAnEpochLeavesOverFromOtherRows) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryRun& run : runs.runs) run.rows_hash = "a";
  VaryRun& parted = run_in(runs, {.sizes = {4, 4}, .precision = "float64"});
  parted.rows_hash = "b", parted.left_over = {{1, 4, false}};

  EXPECT_EQ(vary_verdict(runs).verdict, "fail");
  EXPECT_EQ(vary_verdict(runs).cause, "carried rows");
  EXPECT_TRUE(has(vary_verdict(runs).what, "4 rows left over from an epoch go into window 1"));
  parted.left_over.front().lost = true;
  EXPECT_EQ(vary_verdict(runs).cause, "lost rows");
  run_in(runs, {.precision = "float64"}).left_over = {{1, 4, false}};
  EXPECT_EQ(vary_verdict(runs).cause, "other rows") << "the whole batch leaves them over as well";
}

TEST(CausesBesideWeights, TellsAnEarlyStepAndRepeatedRowsFromOtherRows) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryRun& run : runs.runs) run.rows_hash = "a";
  VaryRun& parted = run_in(runs, {.sizes = {4, 4}, .precision = "float64"});
  parted.rows_hash = "b", parted.repeated = VaryRepeated{1, 2, 4};

  EXPECT_EQ(vary_verdict(runs).verdict, "fail");
  EXPECT_EQ(vary_verdict(runs).what, "4 rows are trained on twice in window 1");
  parted.repeated->times = 3;
  EXPECT_EQ(vary_verdict(runs).what, "4 rows are trained on 3 times in window 1");
  parted.stepped_early = VaryEarly{0, 1, 2};
  EXPECT_EQ(vary_verdict(runs).cause, "an early step");
  EXPECT_EQ(vary_verdict(runs).what, "the optimizer steps after micro-batch 1 of 2 in window 0");
}

TEST(CausesBesideWeights, TellsAShortWindowThatIsDividedByTheMicroBatchesOfOthers) {
  VaryRuns runs;
  judged(loop_of("sum of means"), runs);
  VaryWeights& weights = runs.weights.front();
  ASSERT_EQ(weights.how.sizes, (Partition{4, 4}));
  weights.dealt = {4}, weights.found = {0.125}, weights.meant = {0.25}, weights.rest = 0;
  const VaryReport report = vary_verdict(runs);

  EXPECT_EQ(report.cause, "a short window") << report.sentence();
  EXPECT_EQ(report.what, "window 0 has 1 of 2 micro-batches, but its sum is divided by 2");
}

TEST(CausesBesideWeights, GivesNoLineOfAScriptWithoutOne) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryWeights& weights : runs.weights) weights.place = {};
  EXPECT_EQ(place_text(vary_verdict(runs).place), "train.py:12 `train.step`");
  runs.kind = "script";
  EXPECT_EQ(place_text(vary_verdict(runs).place), "");
}

}  // namespace
}  // namespace tally::causes_beside_weights_test
