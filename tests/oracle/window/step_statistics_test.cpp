// The exact answer of ranks that share the statistics of their micro-steps.
#include <gtest/gtest.h>

#include "oracle/case/ranks.hpp"
#include "oracle/exact/answer.hpp"
#include "oracle/exact/trajectory.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle::step_statistics_test {
namespace {

using Wide = long double;

void share_steps(Case& c) { c.model.layers[1].options["statistics"] = std::string("micro_step"); }

/// Two windows: rows 0, 1 and 4 of the first step, 2 and 3 of the second; and rows 5 | 6.
Case two_ranks() {
  Case c = small_case({{2, 2, 1}, {1, 1}}, "micro_batch");
  share_steps(c);
  c.dealt = {{2, 1}, {1, 1}};
  return c;
}

/// The same rows on one rank, step by step.
Case on_one() {
  const Case all = two_ranks();
  Case one = small_case({{3, 2}, {2}}, "micro_batch");
  one.tensors = all.tensors;
  const std::size_t rows[] = {0, 1, 4, 2, 3, 5, 6};
  for (const char* name : {"x", "target", "drop.mask"}) {
    const Tensor& from = all.tensors.at(name);
    Tensor& to = one.tensors.at(name);
    const std::size_t width = from.elements() / std::size(rows);
    for (std::size_t r = 0; r < std::size(rows); ++r)
      for (std::size_t i = 0; i < width; ++i) to.set_bits(r * width + i, from.bits(rows[r] * width + i));
  }
  return one;
}

TEST(StepStatistics, AreThoseOfTheStepsRowsOnOneRank) {
  const auto gaps = gap_between(two_ranks(), on_one());
  EXPECT_EQ(gaps.size(), 2u);
  for (const WindowGap& gap : gaps) {
    EXPECT_EQ(gap.gradient, 0);
    EXPECT_EQ(gap.parameter, 0);
  }
}

/// Whose steps are signs: of a gradient that is 0 by definition, as a bias before a batch_norm has, either is right.
TEST(StepStatistics, AreThoseOfTheStepsRowsWhereStepsAreSigns) {
  const Choice lion{"lion", {{"beta1", Decimal{"0.9"}}, {"beta2", Decimal{"0.99"}}}};
  Case ranks = two_ranks(), one = on_one();
  ranks.recipe.optimizer = one.recipe.optimizer = lion;

  for (const WindowGap& gap : gap_between(ranks, one)) {
    EXPECT_EQ(gap.gradient, 0);
    EXPECT_EQ(gap.parameter, 0);
  }
  one.tensors = ranks.tensors;
  EXPECT_GT(gap_between(ranks, one).front().gradient, 0);
}

TEST(StepStatistics, AreNotThoseOfOtherRows) {
  Case other = on_one();
  other.tensors = two_ranks().tensors;  // rows 0 to 2, then 3 and 4

  EXPECT_GT(gap_between(two_ranks(), other).front().gradient, 0);
  EXPECT_GT(first_gradient_gap(two_ranks()), 0);
}

TEST(StepStatistics, OfOneStepLeaveNoGapToTheFullBatch) {
  Case c = small_case({{2, 3, 1}}, "micro_batch");
  share_steps(c);
  c.dealt = {{1, 1, 1}};

  EXPECT_EQ(first_gradient_gap(c), 0);
}

TEST(StepStatistics, OfOneRankAreThoseOfItsMicroBatches) {
  const Case own = small_case({{2, 3}, {2}}, "micro_batch");
  Case c = own;
  share_steps(c);

  const auto gaps = gap_between(c, own);
  EXPECT_EQ(gaps.size(), 2u);
  for (const WindowGap& gap : gaps) EXPECT_EQ(gap.parameter, 0);
}

TEST(StepStatistics, MoveOneRunningValueOnceAStep) {
  const auto answers = trajectory<Wide>(two_ranks(), Branch::accumulated),
             one = trajectory<Wide>(on_one(), Branch::accumulated);

  ASSERT_EQ(answers.back().after.running_mean.at("bn").rows(), 1);
  EXPECT_EQ(answers.front().after.running_mean.at("bn"), one.front().after.running_mean.at("bn"));
}

}  // namespace
}  // namespace tally::oracle::step_statistics_test
