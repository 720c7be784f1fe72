// Ranks that share the statistics of their micro-steps under the lenses.
#include <gtest/gtest.h>

#include "oracle/case/ranks.hpp"
#include "tests/kernels/residual_case.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::step_statistics_test {
namespace {

using namespace three;

const char* const ways[] = {"moments", "sums", "two_pass"};

/// Three ranks: the second has a micro-batch more than the first, the last nothing in the second window; of the first
/// step a rank has one row.
Case shared(const std::string& way, Dtype storage = Dtype::fp32, bool read_twice = false) {
  Plan plan = small_plan();
  if (read_twice) {
    plan.hidden.back().name = "act";
    plan.hidden.push_back(reading({"bn", "act"}, layer("add", "sum")));
  }
  plan.hidden.insert(plan.hidden.begin() + 1, layer("batch_norm", "bn", {{"statistics", std::string("frozen")}}));
  plan.hidden.insert(plan.hidden.begin(), layer("batch_norm", "first", {{"statistics", std::string("frozen")}}));
  plan.windows = {{2, 1, 3, 2}, {4, 2}};
  plan.precision.storage = storage;
  Case c = case_of(plan);
  for (Layer& each : c.model.layers)
    if (each.kind == "batch_norm") each.options["statistics"] = std::string("micro_step");
  c.dealt = {{1, 2, 1}, {1, 1, 0}};
  c = with_rank_option(std::move(c), "reduce.algorithm", std::string("ring"));
  return with_rank_option(std::move(c), "statistics", way);
}

TEST(StepStatistics, PassHoweverTheyAreShared) {
  for (const std::string way : ways)
    for (const Dtype storage : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) expect_judged(shared(way, storage), way);
}

/// The sums over all rows read the gradient of an output that two layers gave theirs for.
TEST(StepStatistics, PassWhereTwoLayersReadTheNormalisedRows) {
  for (const std::string way : ways) expect_judged(shared(way, Dtype::fp32, true), way + " read twice");
}

TEST(StepStatistics, PassBesideEveryAlgorithmAndSharding) {
  for (const std::string way : ways) {
    for (const std::string algorithm : {"in_order", "recursive_doubling", "all_to_all", "recursive_halving", "tree"})
      expect_judged(with_rank_option(shared(way), "reduce.algorithm", algorithm), way + " " + algorithm);
    for (const std::string sharding : {"optimizer", "gradients", "parameters"})
      expect_judged(with_rank_option(shared(way), "sharding", sharding), way + " " + sharding);
    expect_judged(with_rank_option(shared(way), "communicate", std::string("micro_batch")), way + " each");
    Case again = shared(way);
    again.execution.recompute = true;
    expect_judged(again, way + " recomputed");
  }
}

TEST(StepStatistics, PassOfAGroupOfOne) {
  Case c = shared("sums");
  c.dealt.clear();
  c.windows = {{4, 4}, {4, 2}};

  expect_judged(c, "a group of one");
  EXPECT_NE(run(c).find("w0/m0/sync_statistics/bn.mean"), nullptr);

  c.execution.ranks = {};
  expect_judged(c, "one rank");
  EXPECT_EQ(run(c).find("w0/m0/sync_statistics/bn.mean"), nullptr);
}

TEST(StepStatistics, JudgeEveryTap) {
  for (const std::string way : ways) {
    const Case c = shared(way);
    expect_every_tap_checked(c);
  }
}

TEST(StepStatistics, AreNamedWithTheRankThatHoldsOthers) {
  for (const std::string way : ways) {
    const Case c = shared(way);
    const Trace trace = run(c);
    const std::string own = way == "moments" ? "bn.mean" : "bn.sum";

    for (const std::string& tap :
         {std::string("w0/r1/m0/sync_statistics/bn.mean"), "w0/r2/m0/forward/" + own,
          "w0/r2/m0/sync_statistics/in." + own, std::string("w0/r0/m1/sync_statistics/bn.var"),
          std::string("w0/r0/m1/sync_statistics/in.bn.sum_dy"), std::string("w0/r1/m0/backward/bn.sum_dy_h"),
          std::string("w0/r2/m0/sync_statistics/bn.sum_dy"), std::string("w0/r2/m1/running_stats/bn.running_var"),
          std::string("w1/r2/m0/running_stats/in.bn.running_mean")})
      EXPECT_EQ(first_failing(checks_of(c, damaged(trace, tap, 1))), tap) << way;
  }
}

TEST(StepStatistics, AreWorkedOutOfTheRowsOfAllRanks) {
  const Case c = shared("moments");
  const Trace trace = run(c);

  const Tensor& count = *trace.find("w0/r2/m0/sync_statistics/bn.count");
  EXPECT_EQ(count.integer(0), 5);
  EXPECT_EQ(trace.find("w0/r0/m1/sync_statistics/in.bn.count")->integer(0), 0);
  EXPECT_EQ(*trace.find("w0/r0/m1/sync_statistics/bn.mean"), *trace.find("w0/r1/m1/forward/bn.mean"));
  EXPECT_EQ(*trace.find("w1/r0/m0/running_stats/bn.running_mean"),
            *trace.find("w1/r2/m0/running_stats/bn.running_mean"));
}

TEST(StepStatistics, LeaveRunningValuesUnderTheirLastStepWithoutTaps) {
  const Case c = shared("moments");
  const Trace all = run(c), last = run(c, {.taps = false});

  for (const char* const tap : {"w1/r0/m0/running_stats/bn.running_mean", "w1/r2/m0/running_stats/bn.running_var"}) {
    ASSERT_NE(last.find(tap), nullptr) << tap;
    EXPECT_EQ(*last.find(tap), *all.find(tap)) << tap;
  }
}

TEST(StepStatistics, SurviveAFile) {
  const Case c = shared("two_pass");
  expect_survives_a_file(c, "step_statistics.safetensors");
}

}  // namespace
}  // namespace tally::step_statistics_test
