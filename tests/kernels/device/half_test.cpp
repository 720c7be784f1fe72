#include "kernels/device/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tally::half_test {
namespace {

struct Shape {
  int digits, least_exponent, largest_exponent;  // significand bits with the hidden one; of normal numbers
};
constexpr Shape binary16{11, -14, 15}, brain{8, -126, 127};

/// x rounded to nearest even in a format, by scaling in binary64: another way than the conversion's.
double rounded(double x, Shape shape) {
  if (x == 0 || std::isinf(x)) return x;
  const int exponent = std::max(std::ilogb(x), shape.least_exponent);
  const double unit = std::ldexp(1.0, exponent - shape.digits + 1);
  const double nearest = std::nearbyint(x / unit) * unit;
  const double beyond = std::ldexp(1.0, shape.largest_exponent + 1);
  return std::fabs(nearest) >= beyond ? std::copysign(HUGE_VAL, x) : nearest;
}

template <class S>
bool rounds_correctly(float x, Shape shape) {
  const float result = to_float(from_float<S>(x));
  if (std::isnan(x)) return std::isnan(result);
  return result == static_cast<float>(rounded(x, shape)) && std::signbit(result) == std::signbit(x);
}

template <class S>
std::uint64_t wrong_conversions(Shape shape) {
  std::uint64_t wrong = 0;
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 641) {
    wrong += !rounds_correctly<S>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), shape);
  }
  return wrong;
}

TEST(Halves, AreTheNearestToEveryFloat) { EXPECT_EQ(wrong_conversions<half>(binary16), 0u); }

TEST(BrainFloats, AreTheNearestToEveryFloat) { EXPECT_EQ(wrong_conversions<bfloat16>(brain), 0u); }

/// Every value of the format, and the floats at and beside the middle between it and the next.
template <class S>
std::uint64_t wrong_near_ties(Shape shape) {
  std::uint64_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const auto value = std::bit_cast<S>(static_cast<std::uint16_t>(bits));
    const auto next = std::bit_cast<S>(static_cast<std::uint16_t>(bits + 1));
    const float x = to_float(value);
    if (std::isnan(x)) {
      wrong += from_float<S>(x).bits != 0x7fff;
      continue;
    }
    wrong += from_float<S>(x).bits != value.bits;
    const float middle = 0.5f * x + 0.5f * to_float(next);
    if (!std::isfinite(middle)) continue;
    for (const float y : {middle, std::nextafter(middle, -HUGE_VALF), std::nextafter(middle, HUGE_VALF)}) {
      wrong += !rounds_correctly<S>(y, shape);
    }
  }
  return wrong;
}

TEST(Halves, RoundTripAndBreakTiesToEven) { EXPECT_EQ(wrong_near_ties<half>(binary16), 0u); }

TEST(BrainFloats, RoundTripAndBreakTiesToEven) { EXPECT_EQ(wrong_near_ties<bfloat16>(brain), 0u); }

TEST(Halves, OverflowToInfinityFromHalfwayOn) {
  EXPECT_EQ(from_float<half>(65519.996f).bits, 0x7bff);
  EXPECT_EQ(from_float<half>(65520.0f).bits, 0x7c00);
  EXPECT_EQ(from_float<half>(-65520.0f).bits, 0xfc00);
  EXPECT_EQ(from_float<half>(std::numeric_limits<float>::infinity()).bits, 0x7c00);
  EXPECT_EQ(from_float<half>(0x1p-25f).bits, 0x0000);
  EXPECT_EQ(from_float<half>(-0x1.000002p-25f).bits, 0x8001);
}

}  // namespace
}  // namespace tally::half_test
