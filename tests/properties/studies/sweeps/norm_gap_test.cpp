#include <gtest/gtest.h>

#include <cmath>

#include "oracle/exact/answer.hpp"
#include "properties/lab/sweeps/drift.hpp"
#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::norm_gap_test {
namespace {

constexpr long double resolution = 0x1p-50L;  // of a long double evaluation; what is below is its own rounding

Case problem(const std::string& norm) { return exact_case({.rows = 16, .hidden = layers_with(norm)}); }

/// The gap by another way: every micro-batch of 4 rows as a window of its own, and the mean of their gradients.
long double gap_by_windows(const std::string& norm) {
  Point mean;
  for (const Point& each : gradients_at_start(in_windows(problem(norm), 4, 1, 4))) add_to(mean, 0.25L, each);
  const Point full = gradients_at_start(problem(norm)).front();
  return tally::norm(difference(mean, full)) / tally::norm(full);
}

TEST(NormGap, IsWhatMicroBatchesOfTheirOwnSay) {
  const double gap = norm_gap(in_windows(problem("micro_batch"), 1, 4, 4)).gradient;
  EXPECT_GT(gap, 0);
  EXPECT_LE(std::abs(gap_by_windows("micro_batch") - gap), resolution * gap);
}

TEST(NormGap, IsNoneForFrozenStatisticsAndLayerNormEitherWay) {
  for (const char* norm : {"frozen", "layer_norm"}) {
    EXPECT_EQ(norm_gap(in_windows(problem(norm), 1, 4, 4)).gradient, 0) << norm;
    EXPECT_LE(gap_by_windows(norm), resolution) << norm;
  }
}

TEST(NormGap, IsNoneForWindowStatisticsWhichWindowsOfTheirOwnDoNotShare) {
  const NormGap gap = norm_gap(in_windows(problem("window"), 1, 4, 4));
  EXPECT_EQ(gap.gradient, 0);
  EXPECT_EQ(gap.running_mean, 0);
  EXPECT_EQ(gap.running_var, 0);
  EXPECT_GT(gap_by_windows("window"), resolution);
}

TEST(NormGap, IsNoneForOneMicroBatch) {
  const NormGap gap = norm_gap(problem("micro_batch"));
  EXPECT_EQ(gap.gradient, 0);
  EXPECT_EQ(gap.running_mean, 0);
}

TEST(NormGap, OfRunningValuesIsSmallerWhenAllUpdatesShareTheMomentum) {
  const Case c = in_windows(problem("micro_batch"), 1, 4, 4);
  EXPECT_LT(norm_gap_with_shared_momentum(c).running_mean, norm_gap(c).running_mean);
  EXPECT_LT(norm_gap_with_shared_momentum(c).running_var, norm_gap(c).running_var);
}

TEST(NormDrift, OfTheKernelsIsRoundingWithinItsBound) {
  const NormDrift drift = norm_drift(in_windows(problem("layer_norm"), 1, 4, 4), {});
  EXPECT_GT(drift.rounding, 0);
  EXPECT_LE(drift.rounding, drift.bound);
  EXPECT_LT(drift.bound, 1);
}

}  // namespace
}  // namespace tally::norm_gap_test
