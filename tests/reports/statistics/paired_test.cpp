#include "reports/statistics/paired.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace tally::paired_test {
namespace {

/// By trying all signs.
double signed_rank_by_hand(const std::vector<double>& sizes, double sum) {
  std::size_t reached = 0;
  const std::size_t all = std::size_t{1} << sizes.size();
  for (std::size_t signs = 0; signs < all; ++signs) {
    double positive = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (signs >> i & 1) positive += static_cast<double>(i + 1);
    reached += positive >= sum;
  }
  return static_cast<double>(reached) / static_cast<double>(all);
}

TEST(SignTest, CountsThrowsOfACoin) {
  EXPECT_EQ(sign_test(0, 0), 1);
  EXPECT_EQ(static_cast<float>(sign_test(3, 3)), 0.125f);
  EXPECT_EQ(static_cast<float>(sign_test(2, 3)), 0.5f);
  EXPECT_EQ(static_cast<float>(sign_test(0, 3)), 1.0f);
}

TEST(SignedRank, AgreesWithAllSignsTried) {
  EXPECT_EQ(signed_rank_test({}), 1);
  EXPECT_EQ(signed_rank_test({0, 0}), 1);
  EXPECT_EQ(signed_rank_test({1, 2, 3}), 0.125);
  EXPECT_EQ(signed_rank_test({-1, 2, 3, 0}), signed_rank_by_hand({1, 2, 3}, 5));
  EXPECT_EQ(signed_rank_test({-1, 2, -3, 4, 5, -6, 7}), signed_rank_by_hand({1, 2, 3, 4, 5, 6, 7}, 18));
}

TEST(SignedRank, SharesRanksAmongTies) {
  EXPECT_EQ(signed_rank_test({1, 1}), 0.25);
  EXPECT_EQ(signed_rank_test({1, -1}), 0.75);  // three of four signs reach the shared rank
}

/// At 30 differences it counts, at 31 it does not: both must say nearly the same of nearly the same.
TEST(SignedRank, GoesOverToTheNormalDistributionWithoutAJump) {
  std::vector<double> differences;
  for (int i = 1; i <= 30; ++i) differences.push_back(i % 4 == 0 ? -i : i);
  const double counted = signed_rank_test(differences);
  differences.push_back(0.5), differences.push_back(-0.25);
  const double normal = signed_rank_test(differences);
  EXPECT_LT(std::fabs(std::log(normal / counted)), std::log(1.5));
  EXPECT_LT(counted, 0.05);
}

TEST(MedianLimit, IsAnOrderStatisticThatFallsWithItsLevel) {
  std::vector<double> values(101);
  std::iota(values.begin(), values.end(), 0.0);
  const double low = median_lower_limit(values, 0.05), high = median_upper_limit(values, 0.05);
  EXPECT_LT(low, 50);
  EXPECT_GT(high, 50);
  EXPECT_EQ(low + high, 100);  // the mirror
  EXPECT_LT(median_lower_limit(values, 0.001), low);
  EXPECT_EQ(median_lower_limit({7}, 0.05), 7);
}

/// The same from resamples that are really drawn.
TEST(MedianLimit, IsThatOfTheBootstrap) {
  std::vector<double> values(41);
  std::iota(values.begin(), values.end(), 0.0);
  std::mt19937_64 random(7);
  std::vector<double> medians;
  for (int resample = 0; resample < 20000; ++resample) {
    std::vector<double> drawn;
    for (std::size_t i = 0; i < values.size(); ++i) drawn.push_back(values[random() % values.size()]);
    std::nth_element(drawn.begin(), drawn.begin() + 20, drawn.end());
    medians.push_back(drawn[20]);
  }
  std::sort(medians.begin(), medians.end());
  EXPECT_LE(std::fabs(medians[1000] - median_lower_limit(values, 0.05)), 1);
}

TEST(Holm, CorrectsFromTheSmallestUpwards) {
  const auto corrected = holm({5.0 / 128, 1.0 / 128, 3.0 / 128});
  EXPECT_EQ(corrected[1], 3.0 / 128);
  EXPECT_EQ(corrected[2], 6.0 / 128);
  EXPECT_EQ(corrected[0], 6.0 / 128);  // never below one that is smaller
  EXPECT_EQ(holm({0.9, 0.8})[0], 1);
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace tally::paired_test
