#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::halved_rate_test {
namespace {

std::vector<double> distances(double (*of_rate)(double)) {
  std::vector<double> all;
  for (int i = 4; i < 9; ++i) all.push_back(of_rate(std::ldexp(1, -i)));
  return all;
}

TEST(OrderInRate, IsExactOnAPurePower) {
  const RateOrder order = order_in_rate(distances([](double h) { return 3 * h * h; }));
  EXPECT_EQ(order.value, 2);
  EXPECT_EQ(order.low, 2);
  EXPECT_EQ(order.high, 2);
}

TEST(OrderInRate, HoldsThePowerBesideATermOfTheNextOrder) {
  EXPECT_TRUE(order_in_rate(distances([](double h) { return h * h + h * h * h; })).contains(2));
  EXPECT_TRUE(order_in_rate(distances([](double h) { return h * h - h * h * h; })).contains(2));
}

TEST(OrderInRate, HoldsThePowerWhereTheTermsOfTwoOrdersNearlyCancel) {
  for (const double c : {-4.0, -1.0, -0.25, 0.0, 0.25, 1.0, 4.0}) {
    std::vector<double> all;
    for (int i = 4; i < 9; ++i) {
      const double h = std::ldexp(1, -i);
      all.push_back(h * (1 + c * h * 0x1p-8 + h * h));
    }
    EXPECT_TRUE(order_in_rate(all).contains(1)) << c;
  }
}

TEST(OrderInRate, DoesNotHoldAnotherPower) {
  EXPECT_FALSE(order_in_rate(distances([](double h) { return h * h + h * h * h; })).contains(1));
  EXPECT_FALSE(order_in_rate(distances([](double h) { return h + h * h; })).contains(2));
}

TEST(OrderInRate, HoldsNothingWithoutDistances) {
  EXPECT_FALSE(order_in_rate({0, 0, 0, 0}).contains(2));
  EXPECT_THROW(order_in_rate({1, 0.5, 0.25}), std::out_of_range);
  EXPECT_FALSE(order_in_rate({NAN, 1, 0.5, 0.25}).contains(2));
}

}  // namespace
}  // namespace tally::halved_rate_test
