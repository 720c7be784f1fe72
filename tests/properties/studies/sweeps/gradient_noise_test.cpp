#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::gradient_noise_test {
namespace {

constexpr long double resolution = 0x1p-50L;  // of a long double evaluation; what is below is its own rounding

/// Exact gradients of six rows of the digits.
const std::vector<Point>& rows() {
  static const auto all = gradients_at_start(in_windows(exact_case({.source = RowSource::digits, .rows = 6}), 6, 1, 1));
  return all;
}

void expect_same(long double found, long double expected) {
  EXPECT_LE(std::abs(found - expected), resolution * std::abs(expected));
}

/// Mean estimate over all ways to draw two micro-batches of `b` rows in order, with or without replacement.
GradientNoise mean_estimate(std::size_t b, bool replacement) {
  const std::size_t n = 2 * b;
  std::vector<std::size_t> drawn(n, 0);
  GradientNoise sum;
  long double count = 0;
  for (bool more = true; more;) {
    const bool distinct = [&] {
      auto sorted = drawn;
      std::ranges::sort(sorted);
      return std::ranges::adjacent_find(sorted) == sorted.end();
    }();
    if (replacement || distinct) {
      std::vector<Point> halves(2);
      for (std::size_t i = 0; i < n; ++i) add_to(halves[i / b], 1 / static_cast<long double>(b), rows()[drawn[i]]);
      const GradientNoise each = estimated_noise(halves, static_cast<std::int64_t>(b));
      sum.trace += each.trace;
      sum.squared_norm += each.squared_norm;
      ++count;
    }
    std::size_t place = 0;
    while (place < n && ++drawn[place] == rows().size()) drawn[place++] = 0;
    more = place < n;
  }
  return {sum.trace / count, sum.squared_norm / count};
}

TEST(EstimatedNoise, OverAllDrawsWithReplacementIsTheExactOne) {
  const GradientNoise exact = exact_noise(rows());
  for (const std::size_t b : {1u, 2u}) {
    const GradientNoise mean = mean_estimate(b, true);
    expect_same(mean.trace, exact.trace);
    expect_same(mean.squared_norm, exact.squared_norm);
  }
}

TEST(EstimatedNoise, OverAllSubsetsHasTheDivisorOfASample) {
  const GradientNoise exact = exact_noise(rows());
  const long double n = static_cast<long double>(rows().size()), trace = exact.trace * n / (n - 1);
  for (const std::size_t b : {1u, 2u}) {
    const GradientNoise mean = mean_estimate(b, false);
    expect_same(mean.trace, trace);
    expect_same(mean.squared_norm, exact.squared_norm - trace / n);
  }
}

TEST(EstimatedNoise, IsZeroWhereAllGradientsAreOne) {
  const GradientNoise noise = estimated_noise({{1, 2}, {1, 2}}, 4);
  EXPECT_EQ(noise.trace, 0);
  EXPECT_EQ(noise.squared_norm, 5);
}

TEST(EstimatedNoise, RefusesASingleMicroBatch) { EXPECT_THROW(estimated_noise({{1, 2}}, 4), std::invalid_argument); }

TEST(ExactNoise, HasTheAccumulatedGradientAsItsMean) {
  const Case whole = in_windows(exact_case({.source = RowSource::digits, .rows = 6}), 1, 3, 2);
  const Point accumulated = gradients_at_start(whole).front();
  EXPECT_LE(norm(difference(mean_of(rows()), accumulated)), resolution * norm(accumulated));
}

}  // namespace
}  // namespace tally::gradient_noise_test
