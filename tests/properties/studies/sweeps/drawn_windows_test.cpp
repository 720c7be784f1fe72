#include <gtest/gtest.h>

#include <cmath>

#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::drawn_windows_test {
namespace {

const std::vector<Point> two_rows{{3}, {-1}};  // mean 1, variance 4

TEST(NoiseEstimates, ComeFromTheSameWindowsForEveryMicroBatch) {
  const auto all = noise_estimates({two_rows, 5, 20}, 8);
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t t = 0; t < 20; ++t) {
    // |g_N|^2 is that of the window, whatever it was cut into: |G|^2 + trace / N, from the estimator's two formulas.
    const auto whole = [&](std::int64_t rows) {
      return all.at(rows).squared_norms.at(t) + all.at(rows).traces.at(t) / 8;
    };
    EXPECT_LE(std::abs(whole(1) - whole(4)), 0x1p-50 * whole(1)) << t;
    EXPECT_LE(std::abs(whole(1) - whole(2)), 0x1p-50 * whole(1)) << t;
  }
}

TEST(NoiseEstimates, DifferFromWindowToWindowAndRepeatWithTheSeed) {
  const auto traces = [](std::uint64_t seed) { return noise_estimates({two_rows, seed, 20}, 8).at(1).traces; };
  EXPECT_NE(traces(5).front(), traces(5).at(3));
  EXPECT_EQ(traces(5), traces(5));
  EXPECT_NE(traces(5), traces(6));
}

TEST(SquaredDeviations, OfSingleRowsAreTheRowsOwn) {
  const auto all = squared_deviations({two_rows, 5, 20}, 4);
  for (const double each : all.at(1)) EXPECT_EQ(each, 4);
  for (const double each : all.at(2)) EXPECT_TRUE(each == 0 || each == 4) << each;
  EXPECT_EQ(all.size(), 3u);
}

}  // namespace
}  // namespace tally::drawn_windows_test
