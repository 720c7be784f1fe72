#include <gtest/gtest.h>

#include <limits>

#include "reports/html/plot.hpp"

namespace tally::axis_test {
namespace {

std::string texts(const Axis& axis) {
  std::string all;
  for (const Axis::Tick& tick : axis.ticks()) all += tick.text + " ";
  return all;
}

TEST(Axis, CountsInPowersOfTwoWhereEveryValueIsOne) {
  EXPECT_EQ(texts(Axis({1, 2, 16}, true)), "1 2 2² 2³ 2⁴ ");
  EXPECT_EQ(texts(Axis({0.25, 1}, true)), "2⁻² 2⁻¹ 1 ");
}

TEST(Axis, CountsInPowersOfTenOtherwise) { EXPECT_EQ(texts(Axis({1e-3, 3}, true)), "10⁻³ 10⁻² 10⁻¹ 1 10 "); }

TEST(Axis, GivesZerosAndWhatIsNotFiniteTheirOwnLanes) {
  const Axis axis({0, 1e-3, 3, std::numeric_limits<double>::infinity()}, true);

  EXPECT_EQ(axis.share(0), 0);
  EXPECT_EQ(axis.share(std::numeric_limits<double>::infinity()), 1);
  EXPECT_GT(axis.share(0.001), 0);
  EXPECT_LT(axis.share(3), 1);
}

TEST(Axis, KeepsTheOrderOfItsValues) {
  for (const bool logarithmic : {true, false}) {
    const std::vector<double> values = {1, 2, 3, 50, 64, 1000};
    const Axis axis(values, logarithmic);
    for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LT(axis.share(values[i - 1]), axis.share(values[i]));
  }
}

TEST(Axis, StandsOnRoundNumbersWhenItIsLinear) {
  EXPECT_EQ(texts(Axis({1, 9}, false)), "0 2 4 6 8 10 ");
  EXPECT_EQ(texts(Axis({0, 1200}, false)), "0 200 400 600 800 1000 1200 ");
}

TEST(Axis, DividesFewDecadesFiner) {
  EXPECT_EQ(texts(Axis({0.3, 7}, true)), "0.2 0.5 1 2 5 10 ");
  EXPECT_EQ(texts(Axis({1, 28}, true)), "1 2 5 10 20 50 ");
  EXPECT_EQ(texts(Axis({2, 5}, true)), "2 5 ");
}

TEST(Axis, StandsWithoutAnyValue) {
  EXPECT_FALSE(texts(Axis({}, true)).empty());
  EXPECT_FALSE(texts(Axis({}, false)).empty());
  EXPECT_FALSE(texts(Axis({0}, true)).empty());
}

TEST(Axis, SendsWhatIsFarBelowEverythingElseToTheZeros) {
  const Axis axis({1e-300, 1e-3, 3}, true);

  EXPECT_EQ(axis.share(1e-300), 0);
  EXPECT_GT(axis.share(0.001), 0);
}

}  // namespace
}  // namespace tally::axis_test
