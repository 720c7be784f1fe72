#include <gtest/gtest.h>

#include "properties/generators/choices.hpp"
#include "properties/lab/sweeps/drift.hpp"
#include "properties/lab/sweeps/scale_curve.hpp"

namespace tally::stored_gradients_test {
namespace {

StoredGradients at_scale(Dtype storage, double scale) {
  SweepProblem problem = small_signals();
  problem.loss_scale = choice("loss_scale", "dynamic", {{"initial", decimal(scale)}});
  const Case c = sweep_case(problem, storage, 8, 2, 3);
  return stored_gradients(c, run(c), scale);
}

TEST(StoredGradients, OfSmallSignalsLeaveTheRangeOfHalfWithoutAScale) {
  const StoredGradients found = at_scale(Dtype::fp16, 1);

  EXPECT_GT(found.subnormal, 0);
  EXPECT_GT(found.below, 0);
  EXPECT_LE(found.below, found.flushed + found.subnormal);
  EXPECT_LE(found.least, found.most);
  EXPECT_EQ(found.non_finite, 0);
  EXPECT_EQ(found.failing, 0);
}

TEST(StoredGradients, StayInRangeInSingle) {
  const StoredGradients found = at_scale(Dtype::fp32, 1);

  EXPECT_EQ(found.flushed + found.subnormal + found.non_finite + found.skipped, 0);
  EXPECT_LE(found.drift, at_scale(Dtype::fp16, 1).drift);
}

TEST(StoredGradients, OverflowAndSkipTheWindowUnderAScaleThatIsTooLarge) {
  const double most = at_scale(Dtype::fp16, 1).most;
  double scale = 1;
  while (scale * most < 2 * 65504) scale *= 2;

  const StoredGradients found = at_scale(Dtype::fp16, scale);

  EXPECT_GT(found.non_finite, 0);
  EXPECT_EQ(found.skipped, 1);
}

TEST(StoredGradients, ComeBackFromTheirNumbers) {
  const StoredGradients found = at_scale(Dtype::fp16, 1);

  EXPECT_EQ(StoredGradients::of(found.numbers()).numbers(), found.numbers());
  EXPECT_EQ(StoredGradients::of(found.numbers()).drift, found.drift);
}

}  // namespace
}  // namespace tally::stored_gradients_test
