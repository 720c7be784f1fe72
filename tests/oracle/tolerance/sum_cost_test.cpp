#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "oracle/tolerance/summation.hpp"

namespace tally::oracle::sum_cost_test {
namespace {

using Sizes = std::vector<double>;

const OrderOfSum in_order{{SumStep::in_order_below, 1000}};
const OrderOfSum in_lanes{{SumStep::lanes, 8}, {SumStep::tree}};
const OrderOfSum in_runs{{SumStep::runs, 4}};
const OrderOfSum in_chunks{{SumStep::chunks, 16}, {SumStep::lanes, 4}, {SumStep::tree},
                           {SumStep::meet},       {SumStep::lanes, 2}, {SumStep::tree}};

Sizes drawn_sizes(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> size;
  Sizes sizes(n);
  for (double& each : sizes) each = size(random);
  return sizes;
}

double total(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), 0.0); }

/// The additions that a growth of a single addend of size 1 stands for, where every addition may double.
double additions_in(double growth) { return std::round(std::log2(growth + 1)); }

double charged(const OrderOfSum& order, std::size_t n, std::size_t i) {
  Sizes one(n, 0);
  one[i] = 1;
  return additions_in(cost_of(order, 1, one).growth);
}

TEST(SumCost, ChargesEveryAddendForTheAdditionsAtItsPlace) {
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(charged(in_order, 10, i), i == 0 ? 9 : 10 - static_cast<double>(i)) << i;
  EXPECT_EQ(charged(in_lanes, 32, 0), 3 + 3);
  EXPECT_EQ(charged(in_lanes, 32, 31), 1 + 3);
  EXPECT_EQ(charged(in_runs, 8, 7), 1 + 1);
}

/// Every addition of a sum whose lanes are known errs by all that it may.
double worst_sum(const Sizes& sizes, std::size_t lanes, double u) {
  Sizes sums;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i < lanes) sums.push_back(sizes[i]);
    if (i >= lanes) sums[i % lanes] = (sums[i % lanes] + sizes[i]) * (1 + u);
  }
  for (; sums.size() > 1; sums.resize(sums.size() / 2)) {
    for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] = (sums[i] + sums[i + sums.size() / 2]) * (1 + u);
  }
  return sums[0];
}

TEST(SumCost, IsReachedWhereEveryAdditionErrsByAllThatItMay) {
  const double u = 0x1p-10;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Sizes sizes = drawn_sizes(64, seed);
    const SumCost cost = cost_of(in_lanes, u, sizes);
    const double grown = worst_sum(sizes, 8, u) - total(sizes);
    EXPECT_GE(cost.growth, grown);
    EXPECT_LE(cost.growth, grown * (1 + u * u));
  }
}

TEST(SumCost, IsNoMoreThanThatOfItsHeight) {
  const double u = 0x1p-24;
  for (const OrderOfSum& order : {in_order, in_lanes, in_runs}) {
    for (const std::size_t n : {1, 2, 7, 33, 200}) {
      const Sizes sizes = drawn_sizes(n, n);
      const SumCost most = cost_of(additions_of(order, static_cast<double>(n)), u, total(sizes));
      const SumCost cost = cost_of(order, u, sizes);
      EXPECT_LE(cost.growth, most.growth * (1 + u)) << n;
      EXPECT_LE(cost.squares, most.squares * (1 + u)) << n;
    }
  }
}

/// What is left may be added in any order: of some drawn ones none costs more.
TEST(SumCost, CoversEveryOrderThatIsLeftOpen) {
  const double u = 0x1p-10;
  Sizes sizes = drawn_sizes(12, 5);
  const SumCost any = cost_of(OrderOfSum{{SumStep::runs, 1}}, u, sizes);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    std::shuffle(sizes.begin(), sizes.end(), std::mt19937_64(seed));
    EXPECT_GE(any.growth, cost_of(in_order, u, sizes).growth);
    EXPECT_GE(any.squares, cost_of(in_order, u, sizes).squares);
    EXPECT_GE(any.growth, cost_of({{SumStep::tree}}, u, sizes).growth);
  }
}

TEST(SumCost, OfTensorsDoesNotDependOnTheirOrder) {
  const double u = 0x1p-10;
  const Sizes a = drawn_sizes(40, 1), b = drawn_sizes(3, 2), c = drawn_sizes(16, 3);
  const SumCost first = cost_of(in_chunks, u, {a, b, c}), second = cost_of(in_chunks, u, {c, b, a});
  EXPECT_LE(first.growth, second.growth * (1 + u * u));
  EXPECT_GE(first.growth, second.growth * (1 - u * u));
  const SumCost most = cost_of(additions_of(in_chunks, Sizes{40, 3, 16}), u, total(a) + total(b) + total(c));
  EXPECT_LE(first.growth, most.growth);
}

TEST(SumCost, IsNothingWithoutAdditions) {
  EXPECT_EQ(cost_of(in_lanes, 1, Sizes{}).growth, 0);
  EXPECT_EQ(cost_of(in_lanes, 1, Sizes{3}).growth, 0);
  EXPECT_EQ(cost_of(in_lanes, 1, Sizes{3}).squares, 0);
}

}  // namespace
}  // namespace tally::oracle::sum_cost_test
