#include <gtest/gtest.h>

#include <cmath>

#include "properties/diagnosis/vary/vary_verdict.hpp"
#include "tests/properties/vary/small_loop.hpp"

namespace tally::asked_runs_test {
namespace {

using samples::again;
using samples::judged;
using samples::loop_of;
using samples::moved;
using samples::run_in;
using samples::SmallLoop;
using samples::whole;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Partition single_rows(8, 1);

std::vector<HowRun> in_low(const VaryRuns& runs) {
  std::vector<HowRun> found;
  for (const VaryRun& run : runs.runs)
    if (run.how.precision == "float32") found.push_back(run.how);
  return found;
}

TEST(AskedRuns, AsksForTheWholeBatchBeforeAllElseAndForLittleAtATime) {
  VaryRuns runs = samples::nothing_run(loop_of("right"));
  VaryReport report = vary_verdict(runs);

  ASSERT_EQ(report.verdict, "asks");
  ASSERT_EQ(report.asks.runs.size(), 1u);
  EXPECT_EQ(report.asks.runs.front(), whole);
  runs.runs.push_back(samples::run_of(loop_of("right"), report.asks.runs.front()));
  report = vary_verdict(runs);
  EXPECT_EQ(report.asks.runs, std::vector<HowRun>{moved});
}

TEST(AskedRuns, OfARightLoopAsksForEachPartitionOnceAndForTheDriftOfTheFinest) {
  VaryRuns runs;
  const VaryReport report = judged(loop_of("right"), runs);

  EXPECT_EQ(report.verdict, "pass");
  EXPECT_EQ(in_low(runs), (std::vector<HowRun>{{.sizes = single_rows, .precision = "float32"}}));
  EXPECT_EQ(runs.runs.size(), 2 + report.gaps.size() + 1);
  EXPECT_FALSE(report.gaps.front().in_low);
  EXPECT_EQ(*report.gaps.back().in_low, report.drift());
}

TEST(AskedRuns, AsksForTheLowPrecisionWhereHalfUlpsOfTheWholeExplainTooLittle) {
  VaryRuns runs;
  judged(loop_of("right"), runs);
  const HowRun coarsest{.sizes = {4, 4}, .precision = "float32"};
  for (const HowRun& how :
       {HowRun{.sizes = {4, 4}, .precision = "float64"}, HowRun{.sizes = {2, 2, 2, 2}, .precision = "float64"}})
    run_in(runs, how).tensors[0].max = run_in(runs, how).tensors[0].scale * 0x1p-30;
  EXPECT_EQ(vary_verdict(runs).asks.runs, std::vector<HowRun>{coarsest});
  runs.runs.push_back(samples::run_of(loop_of("right"), coarsest));
  runs.runs.back().tensors[0].max = runs.runs.back().tensors[0].scale * 0x1p-15;

  EXPECT_EQ(vary_verdict(runs).verdict, "pass") << "what rounds so in one partition explains as much in the next";
  runs.runs.back().tensors[0].max = runs.runs.back().tensors[0].scale * 0x1p-16;
  EXPECT_EQ(vary_verdict(runs).verdict, "asks") << "whether a decision was turned";
}

TEST(AskedRuns, AsksForTheWholeBatchAgainBeforeAnythingIsHeldAgainstALoop) {
  VaryRuns wrong;
  EXPECT_EQ(judged(loop_of("mean of means"), wrong).verdict, "fail");
  EXPECT_EQ(run_in(wrong, again).how, again);
  run_in(wrong, again).tensors[0].max = 0.5;
  EXPECT_EQ(vary_verdict(wrong).cause, "state outside");

  VaryRuns far;
  judged(loop_of("right"), far);
  run_in(far, moved).tensors[0].max = run_in(far, moved).tensors[0].scale * 0x1p-11;
  EXPECT_EQ(vary_verdict(far).asks.runs, std::vector<HowRun>{again}) << "noise that hides so much may be none";
}

TEST(AskedRuns, AsksWhetherTheWholeBatchIsFiniteWhereTheLowPrecisionIsNot) {
  VaryRuns runs;
  judged(loop_of("right"), runs);
  run_in(runs, {.sizes = single_rows, .precision = "float32"}).tensors[0].max = std::nan("");
  ASSERT_EQ(vary_verdict(runs).verdict, "asks");
  const HowRun low{.precision = "float32"};
  EXPECT_EQ(vary_verdict(runs).asks.runs, std::vector<HowRun>{low});
  runs.runs.push_back(samples::run_of(loop_of("right"), low));
  VaryRuns both = runs;
  both.runs.back().tensors[0].max = std::nan("");

  EXPECT_EQ(judged(loop_of("right"), runs, false).cause, "not finite");
  EXPECT_EQ(judged(loop_of("right"), both, false).verdict, "pass");
  EXPECT_EQ(in_low(both).size(), 1 + vary_verdict(both).gaps.size()) << "asked of each where the whole batch cannot";
  EXPECT_TRUE(has(vary_verdict(both).notes.front(), "not finite in float32 either"));
}

TEST(AskedRuns, OfALoopOfOneBatchSizeAsksForNoOther) {
  SmallLoop loop = loop_of("sum of means");
  loop.equal_only = true;
  VaryRuns runs;
  const VaryReport report = judged(loop, runs);

  EXPECT_EQ(report.verdict, "fail");
  for (const VaryRun& run : runs.runs)
    EXPECT_TRUE(std::ranges::adjacent_find(run.how.sizes, std::not_equal_to{}) == run.how.sizes.end());
  for (const VaryWeights& weights : runs.weights) EXPECT_EQ(weights.how.sizes, (Partition{4, 4}));
}

}  // namespace
}  // namespace tally::asked_runs_test
