#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/activation/activation_calls.hpp"

namespace tally::silu_test {
namespace {

using activation::backward;
using activation::forward;

TEST(Silu, StaysWithinTheRoundingsOfItsFormula) {
  auto x = drawn(700);
  for (double& value : x) value = static_cast<float>(value * 20);
  const auto y = forward("silu", x), slope = backward("silu", x, std::vector<double>(x.size(), 1.0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], s = 1 / (1 + std::exp(-v));
    ASSERT_LE(std::fabs(y[i] - v * s), 8 * u * std::fabs(v) * s) << v;  // s: 7u, as sigmoid; the product u
    // 1 - s carries 7u of s and u of itself; times x and s, at most 1, both again, and three roundings of at most 2.
    ASSERT_LE(std::fabs(slope[i] - s * (1 + v * (1 - s))), (8 * std::fabs(v) + 16) * u) << v;
  }
}

TEST(Silu, IsItsInputFarAboveZeroAndNothingFarBelow) {
  EXPECT_EQ(forward("silu", {0, 200, -200}), (std::vector<double>{0, 200, 0}));
  EXPECT_EQ(backward("silu", {0, 200, -200}, {3, 3, 3}), (std::vector<double>{1.5, 3, 0}));
  EXPECT_EQ(forward("silu", {0, 20}, Dtype::fp16), (std::vector<double>{0, 20}));
}

}  // namespace
}  // namespace tally::silu_test
