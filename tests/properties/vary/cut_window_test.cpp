#include <gtest/gtest.h>

#include "properties/diagnosis/vary/runs.hpp"
#include "properties/diagnosis/vary/vary_verdict.hpp"
#include "tests/properties/vary/small_loop.hpp"

namespace tally::cut_window_test {
namespace {

using samples::judged;
using samples::loop_of;
using samples::run_in;
using samples::SmallLoop;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

SmallLoop untold(const std::string& kind) {
  SmallLoop loop = loop_of(kind);
  loop.sizes_told = false;
  return loop;
}

std::vector<Partition> not_judged(const VaryReport& report) {
  std::vector<Partition> found;
  for (const VaryGap& gap : report.gaps)
    if (gap.kind == "not judged") found.push_back(gap.sizes);
  return found;
}

const Partition three{3, 3, 2};

TEST(CutWindow, AccusesNoLoopThatDividesByTheWindowThatItWasToldOf) {
  const VaryReport report = judged(untold("told window"));

  EXPECT_EQ(report.verdict, "pass") << report.sentence();
  ASSERT_FALSE(not_judged(report).empty());
  EXPECT_EQ(not_judged(report).front(), three);
  EXPECT_GT(report.drift(), 0) << "of the partitions that were judged";
  EXPECT_TRUE(has(report.notes.front(), "the script divides by its batch size times K, 3 * 3, and this window has 8"))
      << report.notes.front();
  EXPECT_EQ(judged(loop_of("told window")).verdict, "fail") << "it knows the sizes";
}

TEST(CutWindow, ExcusesNoDivisionByWhatAMicroBatchHolds) {
  VaryRuns runs;
  judged(untold("mean of means"), runs);
  runs.kind = "script";
  const VaryReport report = vary_verdict(runs);

  EXPECT_EQ(report.cause, "1/(K n_k)") << report.sentence();
  EXPECT_TRUE(not_judged(report).empty());
  EXPECT_TRUE(report.numbers.ends_with(
      ". Equal micro-batches match the whole batch: a short last one, as at an epoch's end, does not"))
      << report.numbers;
}

TEST(CutWindow, LooksAtNoUnevenWindowWhereEqualOnesFail) {
  VaryRuns runs;
  judged(untold("sum of means"), runs);
  runs.kind = "script";
  const VaryReport report = vary_verdict(runs);

  EXPECT_EQ(report.partition, (Partition{4, 4}));
  EXPECT_FALSE(has(report.numbers, "Equal micro-batches")) << report.numbers;
}

TEST(CutWindow, ExcusesARateThatFollowsTheWindowItWasToldOf) {
  VaryRuns runs;
  judged(untold("told window"), runs);
  for (VaryWeights& weights : runs.weights) weights.found = weights.meant;
  for (VaryRun& run : runs.runs) run.options = {{{{"lr", is_equal(run.how.sizes) ? 0.1 : 0.2}}}};
  const VaryReport report = judged(untold("told window"), runs, false);

  EXPECT_EQ(report.verdict, "pass") << report.sentence();
  EXPECT_TRUE(has(report.notes.front(),
                  "step 0 of window 0 uses lr = 0.2, the whole batch's uses 0.1: the script "
                  "is told of a window of its batch size times K, 3 * 3, and this one has 8"))
      << report.notes.front();
}

TEST(CutWindow, ExcusesOtherRowsOfUnevenWindowsAlone) {
  VaryRuns runs;
  judged(untold("told window"), runs);
  runs.runs.push_back(samples::run_of(untold("told window"), samples::again));
  for (VaryRun& run : runs.runs) run.rows_hash = "a";
  run_in(runs, {.sizes = three, .precision = "float64"}).rows_hash = "b";

  EXPECT_EQ(vary_verdict(runs).verdict, "pass") << vary_verdict(runs).sentence();
  EXPECT_TRUE(has(vary_verdict(runs).notes.front(), "takes other rows for a window of its batch size times K"));
  run_in(runs, {.sizes = {4, 4}, .precision = "float64"}).rows_hash = "b";
  EXPECT_EQ(vary_verdict(runs).cause, "other rows");
}

}  // namespace
}  // namespace tally::cut_window_test
