#include <gtest/gtest.h>

#include <cmath>

#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::equal_samples_test {
namespace {

TEST(MomentumRules, ChangeNothingForOneMicroBatch) {
  ASSERT_FALSE(momentum_rules().empty());
  for (const MomentumRule& rule : momentum_rules()) {
    const MomentumSettings same = rule.scaled({0.1, 0.9}, 1);
    EXPECT_EQ(same.rate, 0.1) << rule.name;
    EXPECT_EQ(same.beta, 0.9) << rule.name;
  }
}

TEST(MomentumRules, KeepTheHalfLifeInSamples) {
  const MomentumRule& rule = momentum_rules().back();
  EXPECT_EQ(half_life(0.5), 1);
  EXPECT_EQ(rule.scaled({0.5, 0.5}, 3).beta, 0.125);
  EXPECT_EQ(rule.scaled({0.5, 0.5}, 3).rate, 3 * 0.5 * (1 - 0.125) / 0.5);
}

TEST(FirstOrderWay, IsTheWayItselfWhenNoGradientChanges) {
  // Two steps of momentum 1/2 at rate 1 on the gradients g, h: g, then g/2 + h. In one window: (g + h) / 2.
  const std::vector<Point> gradients{{1, 0}, {0, 1}};
  EXPECT_EQ(first_order_way(gradients, 1, {1, 0.5}), (Point{-1.5, -1}));
  EXPECT_EQ(first_order_way(gradients, 2, {1, 0.5}), (Point{-0.5, -0.5}));
}

TEST(FirstOrderWay, IsAllThatIsLeftAtASmallRate) {
  const Case c = exact_case({.rows = 16});
  const auto gradients = gradients_at_start(in_windows(c, 8, 1, 2));
  for (const std::int64_t k : {1, 2, 8}) {
    const MomentumSettings small{0x1p-20, 0.9};
    const Point way = first_order_way(gradients, k, small);
    Point rest = difference(trained_in_windows(c, k, 2, small), untrained(c));
    add_to(rest, -1, way);
    EXPECT_LE(norm(rest), norm(way) * 0x1p-12L) << "K = " << k;  // second order: the rate times the curvature, 8 steps
    EXPECT_GT(norm(way), 0);
  }
}

}  // namespace
}  // namespace tally::equal_samples_test
