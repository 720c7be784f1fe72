// What the sources of ShortBall share: products of whole numbers of 128 bits, radii rounded upward, and the one way in
// which a result is made.
// Defined in short_ball.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "oracle/real/short_ball.hpp"

namespace tally::oracle::short_parts {

using Whole = ShortBall::Whole;
using Signed = __int128;

/// Exponents go from -most_exponent to most_exponent, radii of a result from least_radius to most_radius units.
constexpr std::int32_t most_exponent = 1 << 28;
constexpr double least_radius = 0x1p-300, most_radius = 0x1p140;

inline std::uint64_t high(Whole x) { return static_cast<std::uint64_t>(x >> 64); }
inline std::uint64_t low(Whole x) { return static_cast<std::uint64_t>(x); }

/// 2^n, |n| <= 1022.
inline double two_to(int n) { return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52); }

/// Above the exact value of a few operations on doubles that are not negative and far from underflow.
inline double upward(double x) { return x * (1 + 0x1p-50); }

/// At least r 2^n.
inline double scaled(double r, std::int64_t n) {
  return r == 0 ? 0 : r * two_to(static_cast<int>(std::clamp<std::int64_t>(n, -600, 600)));
}

/// x / 2^128 from above and from below.
inline double fraction_above(Whole x) {
  return static_cast<double>(static_cast<std::int64_t>(x >> 75) + (x != 0 ? 1 : 0)) * 0x1p-53;
}
inline double fraction_below(Whole x) { return static_cast<double>(static_cast<std::int64_t>(x >> 75)) * 0x1p-53; }

struct Product {
  Whole high, low;
};

/// All 256 bits.
inline Product multiplied(Whole x, Whole y) {
  const std::uint64_t x0 = low(x), x1 = high(x), y0 = low(y), y1 = high(y);
  const Whole p00 = Whole{x0} * y0, p01 = Whole{x0} * y1, p10 = Whole{x1} * y0, p11 = Whole{x1} * y1;
  const Whole middle = Whole{high(p00)} + low(p01) + low(p10);
  return {p11 + high(p01) + high(p10) + high(middle), middle << 64 | low(p00)};
}

/// floor(x y / 2^128).
inline Whole times(Whole x, Whole y) { return multiplied(x, y).high; }
/// floor(x y / 2^64).
inline std::uint64_t times(std::uint64_t x, std::uint64_t y) { return high(Whole{x} * y); }

/// x = 0 has 128.
inline int leading_zeros(Whole x) { return high(x) != 0 ? std::countl_zero(high(x)) : 64 + std::countl_zero(low(x)); }

/// What is left of a result whose middle is 0 or whose radius or exponent has no place.
ShortBall settled(const ShortBall& x);

/// +-middle 2^(exponent - 128), at most `radius` units off; middle is 0 or from 2^127 on.
inline ShortBall result(Whole middle, double radius, std::int32_t exponent, bool negative, bool non_negative) {
  const bool usual = middle != 0 && (radius == 0 || (radius >= least_radius && radius <= most_radius)) &&
                     exponent <= most_exponent && exponent >= -most_exponent;
  if (!usual) [[unlikely]]
    return settled({middle, radius, exponent, negative, non_negative});
  return {middle, radius, exponent, negative, non_negative};  // made where the caller wants it: no copy waits for it
}

/// The same number, `more` 2^(its exponent - 128) less certain.
inline ShortBall widened(const ShortBall& x, double more) {
  return result(x.middle, upward(x.radius + more), x.exponent, x.negative, x.non_negative);
}

/// At least the radius as a plain number; infinite where that is beyond double.
inline double plain_radius(const ShortBall& x) {
  if (x.radius == 0) return 0;
  const std::int64_t e = std::int64_t{x.exponent} - 128;
  return e > 800 ? HUGE_VAL : std::max(scaled(x.radius, e), 0x1p-900);
}

}  // namespace tally::oracle::short_parts
