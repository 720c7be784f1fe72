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

TEST(Axis, counts_in_powers_of_two_where_every_value_is_one) {
  EXPECT_EQ(texts(Axis({1, 2, 16}, true)), "1 2 2² 2³ 2⁴ ");
  EXPECT_EQ(texts(Axis({0.25, 1}, true)), "2⁻² 2⁻¹ 1 ");
}

TEST(Axis, counts_in_powers_of_ten_otherwise) { EXPECT_EQ(texts(Axis({1e-3, 3}, true)), "10⁻³ 10⁻² 10⁻¹ 1 10 "); }

TEST(Axis, gives_zeros_and_what_is_not_finite_their_own_lanes) {
  const Axis axis({0, 1e-3, 3, std::numeric_limits<double>::infinity()}, true);

  EXPECT_EQ(axis.share(0), 0);
  EXPECT_EQ(axis.share(std::numeric_limits<double>::infinity()), 1);
  EXPECT_GT(axis.share(0.001), 0);
  EXPECT_LT(axis.share(3), 1);
}

TEST(Axis, keeps_the_order_of_its_values) {
  for (const bool logarithmic : {true, false}) {
    const std::vector<double> values = {1, 2, 3, 50, 64, 1000};
    const Axis axis(values, logarithmic);
    for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LT(axis.share(values[i - 1]), axis.share(values[i]));
  }
}

TEST(Axis, stands_on_round_numbers_when_it_is_linear) {
  EXPECT_EQ(texts(Axis({1, 9}, false)), "0 2 4 6 8 10 ");
  EXPECT_EQ(texts(Axis({0, 1200}, false)), "0 200 400 600 800 1000 1200 ");
}

TEST(Axis, divides_few_decades_finer) {
  EXPECT_EQ(texts(Axis({0.3, 7}, true)), "0.2 0.5 1 2 5 10 ");
  EXPECT_EQ(texts(Axis({1, 28}, true)), "1 2 5 10 20 50 ");
  EXPECT_EQ(texts(Axis({2, 5}, true)), "2 5 ");
}

TEST(Axis, stands_without_any_value) {
  EXPECT_FALSE(texts(Axis({}, true)).empty());
  EXPECT_FALSE(texts(Axis({}, false)).empty());
  EXPECT_FALSE(texts(Axis({0}, true)).empty());
}

TEST(Axis, sends_what_is_far_below_everything_else_to_the_zeros) {
  const Axis axis({1e-300, 1e-3, 3}, true);

  EXPECT_EQ(axis.share(1e-300), 0);
  EXPECT_GT(axis.share(0.001), 0);
}

}  // namespace
}  // namespace tally::axis_test
