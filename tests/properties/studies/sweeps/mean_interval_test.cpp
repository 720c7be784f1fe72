#include <gtest/gtest.h>

#include <cmath>

#include "properties/lab/statistics.hpp"

namespace tally::mean_interval_test {
namespace {

TEST(MeanInterval, ReachesFiveStandardErrorsToEachSide) {
  const MeanInterval mean = mean_interval({1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 2});
  EXPECT_EQ(mean.value, 2);
  EXPECT_EQ(mean.spread, 1);
  EXPECT_EQ(mean.error, 5 / std::sqrt(17.0));
  EXPECT_TRUE(mean.contains(mean.low()));
  EXPECT_FALSE(mean.contains(mean.high() + 1));
}

TEST(MeanInterval, OfOneNumberHoldsNothing) { EXPECT_FALSE(mean_interval({1}).contains(1)); }

TEST(QuotientInterval, OfNumbersInOneProportionIsAPoint) {
  const MeanInterval quotient = quotient_interval({2, 4, 6}, {1, 2, 3});
  EXPECT_EQ(quotient.value, 2);
  EXPECT_EQ(quotient.error, 0);
}

TEST(Spread, KeepsRootMeanSquareAndExtremes) {
  Spread spread;
  for (const double each : {1.0, 7.0, 5.0}) spread.add(each);
  EXPECT_EQ(spread.rms(), 5);
  EXPECT_EQ(spread.low(), 1);
  EXPECT_EQ(spread.high(), 7);
}

TEST(Listed, JoinsNumbersAsASentenceDoes) {
  EXPECT_EQ(listed({1.0 / 3}), "0.333");
  EXPECT_EQ(listed({1, 2}), "1 and 2");
  EXPECT_EQ(listed({1, 2, 3}), "1, 2 and 3");
}

}  // namespace
}  // namespace tally::mean_interval_test
