#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "properties/lab/statistics.hpp"

namespace tally::fit_test {
namespace {

/// 4^0 … 4^(count - 1), whose square roots are exact.
std::vector<double> powers_of_four(int count) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(std::exp2(2 * i));
  return all;
}

std::vector<double> power_of_each(const std::vector<double>& x, double factor, double exponent) {
  std::vector<double> y;
  for (const double value : x) y.push_back(factor * std::pow(value, exponent));
  return y;
}

TEST(Fit, RecoversAPlantedExponentExactlyOnExactData) {
  const auto x = powers_of_four(9);
  for (const double exponent : {0.0, 0.5, 1.0, -1.5}) {
    const Fit fit = fit_power(x, power_of_each(x, 0x1p-24, exponent));
    EXPECT_EQ(fit.slope, exponent);
    EXPECT_EQ(fit.intercept, -24);
    EXPECT_EQ(fit.interval.low, exponent);
    EXPECT_EQ(fit.interval.high, exponent);
    EXPECT_EQ(fit.points, 9u);
  }
}

TEST(Fit, HasTheIntervalThatTablesGive) {
  // x = 1, 2, 3, y = 1, 3, 2: slope 1/2, residuals -1/2, 1, -1/2; t(0.975, 1) = tan(0.475 pi).
  const Fit fit = fit_line({1, 2, 3}, {1, 3, 2});
  const double half = std::tan(0.475 * std::acos(-1.0)) * std::sqrt(1.5 / 2);

  EXPECT_EQ(fit.slope, 0.5);
  EXPECT_LE(std::fabs(fit.interval.high - (0.5 + half)), half * 0x1p-40);
  EXPECT_LE(std::fabs(fit.interval.low - (0.5 - half)), half * 0x1p-40);
}

TEST(Fit, HoldsTheTrueSlopeAboutAsOftenAsItSays) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise;
  constexpr int studies = 2000;
  int held = 0;
  for (int study = 0; study < studies; ++study) {
    std::vector<double> x, y;
    for (int i = 0; i < 8; ++i) x.push_back(i), y.push_back(0.5 * i + noise(random));
    held += fit_line(x, y).interval.holds(0.5);
  }
  // Binomial with p = 0.95: six standard deviations on both sides.
  const double expected = 0.95 * studies, deviation = std::sqrt(studies * 0.95 * 0.05);
  EXPECT_LE(std::fabs(held - expected), 6 * deviation);
}

TEST(Fit, KnowsNothingFromOnePointAndNoSpreadFromTwo) {
  EXPECT_TRUE(std::isnan(fit_line({1}, {1}).slope));
  EXPECT_TRUE(std::isnan(fit_line({2, 2, 2}, {1, 2, 3}).slope));
  EXPECT_FALSE(fit_line({1}, {1}).interval.holds(1));
  EXPECT_EQ(fit_line({1, 2}, {1, 3}).slope, 2);
  EXPECT_EQ(fit_line({1, 2}, {1, 3}).interval.high, std::numeric_limits<double>::infinity());
}

TEST(Fit, LeavesOutWhatHasNoLogarithm) {
  const Fit fit = fit_power({1, 4, 16, 64, 0}, {0, 2, 4, 8, 1});

  EXPECT_EQ(fit.slope, 0.5);
  EXPECT_EQ(fit.points, 3u);
}

TEST(Mean, HasTheIntervalThatTablesGive) {
  // 1 and 3: s = √2, s / √n = 1; t(0.975, 1) = tan(0.475 pi).
  const Mean mean = mean_of({1, 3});
  const double half = std::tan(0.475 * std::acos(-1.0));

  EXPECT_EQ(mean.value, 2);
  EXPECT_LE(std::fabs(mean.interval.high - (2 + half)), half * 0x1p-40);
  EXPECT_EQ(mean_of({5, 5, 5}).interval.low, 5);
  EXPECT_EQ(mean_of({5}).interval.high, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(mean_of({}).interval.holds(0));
}

TEST(RootMeanSquareInterval, NarrowsWithSamplesAndHoldsTheTruth) {
  const Interval few = root_mean_square_interval(1, 4), many = root_mean_square_interval(1, 400);

  EXPECT_TRUE(few.holds(1) && many.holds(1));
  EXPECT_LT(few.low, many.low);
  EXPECT_LT(many.high, few.high);
}

}  // namespace
}  // namespace tally::fit_test
