// Arithmetic in a 16-bit format S, rounded once to nearest even, subnormals included; every NaN is 0x7fff.
//
// Sums, differences and products go through fp32: it has 24 digits, at least twice as many and two more than the
// 16-bit formats, so the second rounding does no harm. For a fused multiply-add that does not hold: it goes through
// binary64, which holds the product exactly, and the sum's last bit there is made odd where the sum is inexact, so that
// no tie of the 16-bit format appears or disappears.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/device/host/half_rounding.hpp"
#include "kernels/device/host/half_types.hpp"

namespace tally {
inline namespace TALLY_SIDE {

template <SixteenBits S>
S from_bits(std::uint16_t bits) {
  return std::bit_cast<S>(bits);
}

template <SixteenBits S>
S from_double(double value, RoundingMode how = RoundingMode::nearest) {
  return from_bits<S>(rounded<S::dtype>(value, how));
}

template <SixteenBits S>
bool is_nan(S a) {
  return std::isnan(static_cast<float>(a));
}

/// a + b in binary64, the last bit odd where that is not exact. Both far from binary64's ends.
inline double sum_to_odd(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (!(error < 0 || error > 0) || (bits & 1) != 0) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

template <SixteenBits S>
S fused_multiply_add(S a, S b, S c) {
  const double product = static_cast<double>(static_cast<float>(a)) * static_cast<double>(static_cast<float>(b));
  return from_double<S>(sum_to_odd(product, static_cast<double>(static_cast<float>(c))));
}

/// Into [+0, 1]; a NaN gives +0.
template <SixteenBits S>
S saturated(S a) {
  const float value = static_cast<float>(a);
  return value > 0.0f ? value < 1.0f ? a : S(1.0f) : S(0.0f);
}

/// The larger, +0 above -0. One NaN: the other operand, or a NaN where `nan_wins`.
template <SixteenBits S>
S larger(S a, S b, bool nan_wins) {
  if (is_nan(a) || is_nan(b))
    return nan_wins || (is_nan(a) && is_nan(b)) ? from_bits<S>(canonical_nan) : is_nan(a) ? b : a;
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  return x > y || (x == y && !std::signbit(x)) ? a : b;
}

template <SixteenBits S>
S negated(S a) {
  return from_bits<S>(static_cast<std::uint16_t>(a.bits ^ 0x8000u));
}

template <SixteenBits S>
S smaller(S a, S b, bool nan_wins) {
  if (is_nan(a) || is_nan(b)) return larger(a, b, nan_wins);
  return negated(larger(negated(a), negated(b), nan_wins));
}

/// A NaN gives 0; beyond the type's ends, the end.
template <class Integer, SixteenBits S>
Integer to_integer(S a, RoundingMode how) {
  const double x = static_cast<double>(static_cast<float>(a));
  if (std::isnan(x)) return 0;
  const double whole = how == RoundingMode::nearest ? std::nearbyint(x)
                       : how == RoundingMode::zero  ? std::trunc(x)
                       : how == RoundingMode::up    ? std::ceil(x)
                                                    : std::floor(x);
  using Limits = std::numeric_limits<Integer>;
  if (whole >= static_cast<double>(Limits::max())) return Limits::max();
  if (whole <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<Integer>(whole);
}

}  // namespace TALLY_SIDE
}  // namespace tally
