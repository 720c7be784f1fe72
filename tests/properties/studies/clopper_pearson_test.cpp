// The limits against identities that define them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "properties/lab/statistics.hpp"

namespace tally::clopper_pearson_test {
namespace {

/// The inversion ends when the tail probability repeats: some tens of units in the last place of a number below 1.
const double resolution = 64 * std::numeric_limits<double>::epsilon();

bool same(double a, long double b) { return std::fabs(static_cast<long double>(a) - b) <= resolution; }

/// P(X <= k) of n trials that succeed with probability p.
long double at_most(std::uint64_t k, std::uint64_t n, long double p) {
  long double term = std::pow(1 - p, static_cast<long double>(n)), sum = 0;
  for (std::uint64_t i = 0; i <= k; ++i) {
    sum += term;
    term *= static_cast<long double>(n - i) / static_cast<long double>(i + 1) * p / (1 - p);
  }
  return sum;
}

TEST(ClopperPearson, GivesTheClosedFormWithoutAnEventAndWithNothingElse) {
  for (const std::uint64_t n : {1u, 2u, 10u, 300u, 10000u}) {
    const long double root = std::pow(0.05L, 1.0L / static_cast<long double>(n));

    EXPECT_TRUE(same(clopper_pearson_upper(0, n), 1 - root)) << n;
    EXPECT_TRUE(same(clopper_pearson_lower(n, n), root)) << n;
  }
}

TEST(ClopperPearson, LeavesJustTheTailBeyondItsLimits) {
  for (const std::uint64_t n : {3u, 20u, 200u}) {
    for (std::uint64_t k = 0; k < n; k += 1 + n / 7) {
      EXPECT_TRUE(same(1, at_most(k, n, clopper_pearson_upper(k, n)) + 0.95L)) << k << " of " << n;
    }
    for (std::uint64_t k = 1; k <= n; k += 1 + n / 7) {
      EXPECT_TRUE(same(0.95, at_most(k - 1, n, clopper_pearson_lower(k, n)))) << k << " of " << n;
    }
  }
}

TEST(ClopperPearson, CountsEventsAndTheirAbsenceAlike) {
  for (std::uint64_t k = 0; k <= 12; ++k) {
    EXPECT_TRUE(
        same(clopper_pearson_upper(k, 12, 0.99), 1 - static_cast<long double>(clopper_pearson_lower(12 - k, 12, 0.99))))
        << k;
  }
}

TEST(ClopperPearson, KnowsNothingWithoutTrials) {
  EXPECT_EQ(clopper_pearson_upper(0, 0), 1);
  EXPECT_EQ(clopper_pearson_lower(0, 0), 0);
  EXPECT_EQ(clopper_pearson_upper(5, 5), 1);
  EXPECT_EQ(clopper_pearson_lower(0, 5), 0);
}

TEST(ClopperPearson, RefusesMoreEventsThanTrials) {
  EXPECT_THROW(clopper_pearson_upper(6, 5), std::invalid_argument);
  EXPECT_THROW(clopper_pearson_lower(6, 5), std::invalid_argument);
}

}  // namespace
}  // namespace tally::clopper_pearson_test
