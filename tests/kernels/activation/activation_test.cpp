#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/activation/activation_calls.hpp"

namespace tally::activation_test {
namespace {

using activation::backward;
using activation::forward;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Relu, PassesPositiveValuesAndNaNAndNothingElse) {
  const auto y = forward("relu", {-1, -0.0, 0, 0.5, infinity, -infinity, nan});
  EXPECT_EQ((std::vector<double>(y.begin(), y.end() - 1)), (std::vector<double>{0, 0, 0, 0.5, infinity, 0}));
  EXPECT_TRUE(std::isnan(y.back()));
  EXPECT_EQ(backward("relu", {-1, 0, 2}, {5, 6, 7}), (std::vector<double>{0, 0, 7}));
}

TEST(Tanh, StaysWithinTwoUlpAndKeepsSymmetry) {
  auto x = drawn(700);
  for (double& value : x) value = static_cast<float>(value * 8);
  const auto y = forward("tanh", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::tanh(x[i]);
    ASSERT_LE(std::fabs(y[i] - exact), 4 * u * std::fabs(exact)) << x[i];  // an ulp is at most 2u of the value
  }
  EXPECT_EQ(forward("tanh", {0, infinity, -infinity}), (std::vector<double>{0, 1, -1}));
}

TEST(Sigmoid, StaysWithinTheRoundingsOfItsFormula) {
  auto x = drawn(700);
  for (double& value : x) value = static_cast<float>(value * 20);
  const auto y = forward("sigmoid", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = 1 / (1 + std::exp(-x[i]));
    ASSERT_LE(std::fabs(y[i] - exact), 7 * u * exact) << x[i];  // exp 4u, addition u, division u, second order
  }
  EXPECT_EQ(forward("sigmoid", {0, 200, -200}), (std::vector<double>{0.5, 1, 0}));
}

TEST(Gelu, BothFormsStayWithinTheRoundingsOfTheirFormulas) {
  auto x = drawn(700);
  for (double& value : x) value = static_cast<float>(value * 5);
  const auto by_erf = forward("gelu_none", x), by_tanh = forward("gelu_tanh", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    // Inside the bracket, at most 2: erf or tanh 4u, its argument's roundings times at most 1, the addition u; then u.
    ASSERT_LE(std::fabs(by_erf[i] - v / 2 * (1 + std::erf(v / std::sqrt(2.0)))), 9 * u * std::fabs(v)) << v;
    const double inner = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);
    ASSERT_LE(std::fabs(by_tanh[i] - v / 2 * (1 + std::tanh(inner))), 9 * u * std::fabs(v)) << v;
  }
}

/// dy = 1: the slope, within the roundings of kernels/arithmetic.md. t or s carry 4u or 7u, a product or a difference u
/// more, and what multiplies an error is at most what stands before it.
TEST(Activations, HaveTheSlopeOfTheirDefinitions) {
  auto x = drawn(700);
  for (double& value : x) value = static_cast<float>(value * 5);
  const std::vector<double> ones(x.size(), 1.0);
  const auto tanh = backward("tanh", x, ones), sigmoid = backward("sigmoid", x, ones);
  const auto by_erf = backward("gelu_none", x, ones), by_tanh = backward("gelu_tanh", x, ones);
  const double k = std::sqrt(2 / M_PI), a = 0.044715;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], t = std::tanh(v), s = 1 / (1 + std::exp(-v));
    ASSERT_LE(std::fabs(tanh[i] - (1 - t * t)), 12 * u) << v;  // t t: 2 * 4u + u; difference, product: u each
    ASSERT_LE(std::fabs(sigmoid[i] - s * (1 - s)), 12 * u) << v;
    const double phi = std::exp(-v * v / 2) / std::sqrt(2 * M_PI);
    // Phi: 9u as in forward; x phi <= 1/4 carries its argument's 2u x^2 / 2, exp's 4u and three products.
    ASSERT_LE(std::fabs(by_erf[i] - ((1 + std::erf(v / std::sqrt(2.0))) / 2 + v * phi)), 16 * u) << v;
    const double inner = std::tanh(k * (v + a * v * v * v)), slope = k * (1 + 3 * a * v * v);
    const double exact = (1 + inner) / 2 + v / 2 * (1 - inner * inner) * slope;
    // 1 - t t: 20u with the argument's roundings; times |x| / 2 and the inner slope, which adds 5u of the product.
    ASSERT_LE(std::fabs(by_tanh[i] - exact), (20 * std::fabs(v) / 2 * slope + 12) * u) << v;
  }
}

TEST(Activations, HaveTheKnownSlopeAtZero) {
  EXPECT_EQ(backward("tanh", {0}, {3}), std::vector<double>{3});
  EXPECT_EQ(backward("sigmoid", {0}, {3}), std::vector<double>{0.75});
  EXPECT_EQ(backward("gelu_none", {0}, {3}), std::vector<double>{1.5});
  EXPECT_EQ(backward("gelu_tanh", {0}, {3}), std::vector<double>{1.5});
}

TEST(Activations, TakeAndGiveHalfPrecisionAndNothingAtAll) {
  EXPECT_EQ(forward("sigmoid", {0, 20}, Dtype::fp16), (std::vector<double>{0.5, 1}));
  EXPECT_TRUE(forward("tanh", {}).empty());
}

TEST(Dropout, KeepsAndScalesOrDropsEvenInfinity) {
  const DeviceTensor x = on_device({1, -2, infinity, 4}), y = room(4);
  const DeviceTensor mask = on_device({1, 0, 0, 1}, Dtype::u8);
  call("dropout.forward", DropoutArguments{Dtype::fp32, x.data(), mask.as<std::uint8_t>(), y.data(), 4, 2.0f});
  EXPECT_EQ(values_of(y), (std::vector<double>{2, 0, 0, 8}));
}

}  // namespace
}  // namespace tally::activation_test
