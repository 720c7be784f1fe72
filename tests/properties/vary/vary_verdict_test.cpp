#include "properties/diagnosis/vary/vary_verdict.hpp"

#include <gtest/gtest.h>

#include "tests/properties/vary/small_loop.hpp"

namespace tally::vary_verdict_test {
namespace {

using samples::again;
using samples::judged;
using samples::loop_of;
using samples::moved;
using samples::run_in;
using samples::SmallLoop;
using samples::whole;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A right loop that was judged, and run a second time as well.
VaryRuns right_and_again() {
  VaryRuns runs;
  judged(loop_of("right"), runs);
  runs.runs.push_back(samples::run_of(loop_of("right"), again));
  return runs;
}

TEST(VaryVerdict, PassesARightLoopAndSaysHowFarTheLowPrecisionDrifts) {
  const VaryReport report = judged(loop_of("right"));

  EXPECT_EQ(report.verdict, "pass") << report.sentence();
  EXPECT_GT(report.drift(), 0);
  EXPECT_LT(report.drift(), 0x1p-16);
  EXPECT_TRUE(has(report.what, "partitions of 8 rows give the whole batch's parameters; in float32 they end within"));
  EXPECT_TRUE(has(report.notes.back(), "the same in every partition"));
  EXPECT_EQ(report.by_tensor().front().name, "w");
}

TEST(VaryVerdict, NamesMeanOfMeansInTheWordsOfTheLoop) {
  const VaryReport report = judged(loop_of("mean of means"));

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "1/(K n_k)");
  EXPECT_EQ(report.partition.size(), 2u) << "two micro-batches are the coarsest that can fail";
  EXPECT_EQ(report.what, "each micro-batch's loss is divided by its own 2 rows and by K = 2");
  EXPECT_TRUE(report.change.starts_with("divide by the window's 8: `loss.sum() / 8`")) << report.change;
  EXPECT_EQ(place_text(report.place), "train.py:31 `loss.backward()`");
  EXPECT_TRUE(has(report.numbers, "a row weighs 0.0833, 0.25")) << report.numbers;
}

TEST(VaryVerdict, NamesEachWrongRuleByItsWeights) {
  const std::pair<const char*, const char*> rules[] = {{"sum of means", "1/n_k"},
                                                       {"divided twice", "1/K"},
                                                       {"last alone", "the last alone"},
                                                       {"a factor", "a factor"},
                                                       {"mean of items", "1/(K n_k)"},
                                                       {"share of rows", "n_k/N of t_k"},
                                                       {"clips before the last", "each later counts more"},
                                                       {"sends sums back", "each earlier counts more"},
                                                       {"signs before the last", "no sum of the micro-batches"},
                                                       {"steps each", "steps"}};
  for (const auto& [kind, cause] : rules) {
    const VaryReport report = judged(loop_of(kind));
    EXPECT_EQ(report.verdict, "fail") << kind;
    EXPECT_EQ(report.cause, cause) << kind << ": " << report.sentence();
  }
}

TEST(VaryVerdict, CountsItemsWhereTheyWereSeen) {
  const VaryReport report = judged(loop_of("mean of items"));

  EXPECT_TRUE(has(report.what, " items and by K = ")) << report.what;
}

TEST(VaryVerdict, TellsASumOfMeansFromAFactorKByUnevenMicroBatches) {
  VaryRuns runs;
  const VaryReport report = judged(loop_of("sum of means"), runs);

  EXPECT_EQ(report.partition, (Partition{4, 4}));
  ASSERT_EQ(runs.weights.size(), 2u);
  EXPECT_EQ(runs.weights.back().how.sizes, (Partition{3, 3, 2}));
}

TEST(VaryVerdict, SaysWhichTensorsDiffer) {
  const VaryReport report = judged(loop_of("mean of means"));

  EXPECT_TRUE(has(report.numbers, "(w alone)")) << report.numbers;
  for (const VaryTensorGap& tensor : report.by_tensor())
    EXPECT_EQ(tensor.kind, tensor.name == "w" ? "meaning" : "rounding");
}

TEST(VaryVerdict, LooksAtALaterWindowWhereTheFirstStepIsRight) {
  const VaryReport report = judged(loop_of("stale"));

  EXPECT_EQ(report.cause, "stale gradient") << report.sentence();
  EXPECT_TRUE(has(report.what, "0.5 times window 0's gradient")) << report.what;
}

TEST(VaryVerdict, HoldsBatchNormStillAndNamesItWhereTheGapIsGone) {
  const VaryReport report = judged(loop_of("batch_norm"));

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "batch_norm") << report.sentence();
  EXPECT_TRUE(
      has(report.what, "BatchNorm1d bn1 sees each micro-batch by itself: the gap is gone when BatchNorm is frozen"));
}

TEST(VaryVerdict, LooksBehindBatchNormForAnotherCause) {
  SmallLoop loop = loop_of("batch_norm and mean of means");
  loop.rows = 7;
  VaryRuns runs;
  const VaryReport report = judged(loop, runs);

  EXPECT_EQ(report.cause, "1/(K n_k)") << report.sentence();
  EXPECT_EQ(runs.weights.front().how.frozen, std::vector<std::string>{"batch_norm"});
  ASSERT_FALSE(report.notes.empty());
  EXPECT_TRUE(has(report.notes.front(), "with BatchNorm1d bn1 held still")) << report.notes.front();
}

TEST(VaryVerdict, CallsWhatTheLastBitsTurnADecision) {
  const VaryReport report = judged(loop_of("adam of noise"));

  EXPECT_EQ(report.verdict, "pass") << report.sentence();
  EXPECT_TRUE(std::ranges::any_of(report.gaps, [](const VaryGap& gap) { return gap.kind == "decision"; }));
  EXPECT_TRUE(has(report.what, ", but for noise, where rounding turns a decision in ")) << report.what;
  EXPECT_GT(report.drift(), 0);
  EXPECT_LT(report.drift(), 0x1p-16) << "of the tensor that differs by rounding alone";
}

TEST(VaryVerdict, NamesTheTensorThatIsNotFinite) {
  const VaryReport report = judged(loop_of("leaves nan"));

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "not finite");
  EXPECT_TRUE(has(report.what, "non-finite elements in w")) << report.what;
}

TEST(VaryVerdict, JudgesOnePrecisionByWhatHalfAnUlpDoes) {
  SmallLoop right = loop_of("right"), wrong = loop_of("mean of means");
  right.precisions = wrong.precisions = {"float32"};

  EXPECT_EQ(judged(right).verdict, "pass") << judged(right).sentence();
  EXPECT_EQ(judged(wrong).verdict, "fail");
}

TEST(VaryVerdict, RefusesAWholeBatchThatCannotBeAReference) {
  VaryRuns runs;
  judged(loop_of("right"), runs);

  const auto cause_with = [&](const HowRun& how, auto change) {
    VaryRuns changed = runs;
    change(run_in(changed, how));
    const VaryReport report = vary_verdict(changed);
    EXPECT_EQ(report.verdict, "error") << report.sentence();
    return report.cause;
  };
  EXPECT_EQ(cause_with(whole,
                       [](VaryRun& run) {
                         run.error = VaryError{"ValueError", "no rows", "train.py", 3};
                       }),
            "error");
  EXPECT_EQ(cause_with(whole, [](VaryRun& run) { run.tensors[0].max = std::nan(""); }),
            "not finite in the whole batch");
  EXPECT_EQ(cause_with(whole, [](VaryRun& run) { run.trained = false; }), "nothing trained");
  EXPECT_EQ(cause_with(moved, [](VaryRun& run) { run.error = VaryError{"ValueError", "no", "train.py", 3}; }), "error");
}

TEST(VaryVerdict, GoesOnWhereTheSameRunDiffersByRounding) {
  VaryRuns runs;
  judged(loop_of("adam of noise"), runs);
  run_in(runs, again).tensors[0].max = 0x1p-52;

  const VaryReport report = vary_verdict(runs);
  EXPECT_EQ(report.verdict, "pass");
  EXPECT_EQ(std::ranges::count(report.notes, report.notes.front()), 1);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_TRUE(has(report.notes.front(), "kernels that add in no fixed order")) << report.notes.front();
}

TEST(VaryVerdict, SaysFirstThatAPartitionHoldsOtherRows) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryRun& run : runs.runs) run.rows_hash = "a";
  run_in(runs, {.sizes = {4, 4}, .precision = "float64"}).rows_hash = "b";

  const VaryReport report = vary_verdict(runs);
  EXPECT_EQ(report.verdict, "error");
  EXPECT_EQ(report.cause, "other rows");
  EXPECT_TRUE(has(report.what, "micro-batches of 4, 4 rows have other rows"));
  run_in(runs, again).rows_hash = "c";
  EXPECT_TRUE(has(vary_verdict(runs).what, "has other rows when it is run again")) << vary_verdict(runs).what;
}

TEST(VaryVerdict, FailsWhereAPartitionEndsInAnErrorAndNoneHasAGap) {
  VaryRuns runs = right_and_again();
  for (VaryRun& run : runs.runs) run.rows_hash = "of all rows";
  VaryRun& run = run_in(runs, {.sizes = {4, 4}, .precision = "float64"});
  run.error = VaryError{"ValueError", "two are too many", "train.py", 9};
  run.rows_hash = "of what was seen until then";
  const VaryReport report = vary_verdict(runs);

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "error");
  EXPECT_EQ(report.partition, (Partition{4, 4}));
  EXPECT_TRUE(has(report.what, "4, 4 rows end with ValueError at train.py:9 (two are too many)")) << report.what;
}

TEST(VaryVerdict, SaysThatNoGradientWasSeenWhereThereAreNoWeights) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryWeights& weights : runs.weights) weights.found.clear(), weights.place = {};

  EXPECT_EQ(vary_verdict(runs).cause, "unknown");
  EXPECT_EQ(place_text(vary_verdict(runs).place), "") << "the loop's first line is no place";
}

TEST(VaryVerdict, CallsAGapADecisionWhereItIsGoneOnceAllIsMoved) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryRun& run : runs.runs)
    if (!run.how.sizes.empty() && run.how.moved == 1) run.tensors[0].max = run.tensors[1].max = 0;

  const VaryReport report = vary_verdict(runs);
  EXPECT_EQ(report.verdict, "asks") << "the partitions behind the one that failed";
  EXPECT_EQ(report.gaps.back().kind, "decision");
}

TEST(VaryVerdict, KeepsToTheBoundaryEitherWay) {
  VaryRuns runs;
  judged(loop_of("right"), runs);
  runs.runs.push_back(samples::run_of(loop_of("right"), {.sizes = {4, 4}, .precision = "float32"}));
  VaryRun& high = run_in(runs, {.sizes = {4, 4}, .precision = "float64"});
  VaryRun& low = runs.runs.back();
  low.tensors[0].scale = high.tensors[0].scale = 1;
  low.tensors[0].max = 0x1p-10;
  const double boundary = vary_verdict(runs).boundary;
  high.tensors[0].max = boundary * 0x1p-10;

  EXPECT_EQ(boundary, std::sqrt(0x1p-29));
  EXPECT_EQ(vary_verdict(runs).verdict, "pass");
  high.tensors[0].max = std::nextafter(high.tensors[0].max, 1);
  EXPECT_EQ(vary_verdict(runs).verdict, "asks") << "it is asked whether a decision was turned";
  low.tensors[0].max = 0.5;
  EXPECT_EQ(vary_verdict(runs).verdict, "asks")
      << "what half ulps cannot do is no rounding: float32 trains another loop";
}

TEST(VaryVerdict, DoesNotPassWhereRoundingTurnedAllThereIs) {
  const SmallLoop loop = loop_of("adam of noise");
  VaryRuns runs;
  judged(loop, runs);
  const auto keep_the_noise = [&] {
    for (VaryRun& run : runs.runs)
      std::erase_if(run.tensors, [](const VaryTensor& tensor) { return tensor.name != "noise"; });
  };
  keep_the_noise();
  for (const VaryGap& gap : vary_verdict(runs).gaps)
    if (gap.kind == "rounding") run_in(runs, {.sizes = gap.sizes, .precision = "float64"}).tensors[0].max = 1;
  while (!vary_verdict(runs).asks.empty()) {
    for (const HowRun& how : vary_verdict(runs).asks.runs) runs.runs.push_back(samples::run_of(loop, how));
    keep_the_noise();
  }

  const VaryReport report = vary_verdict(runs);
  EXPECT_EQ(report.verdict, "error") << report.sentence();
  EXPECT_EQ(report.cause, "decisions");
}

}  // namespace
}  // namespace tally::vary_verdict_test
