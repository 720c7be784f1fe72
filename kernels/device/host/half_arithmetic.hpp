// Arithmetic and comparison of 16 bits on the host, with one rounding each, by CUDA's words.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/device/host/half_types.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// One rounding from binary64 to a 16-bit format, in each of CUDA's directions.

enum class RoundingMode { nearest, zero, up, down };  // nearest: ties to even

inline constexpr std::uint16_t canonical_nan = 0x7fff;

inline bool rounds_away(RoundingMode how, bool negative) {
  return how == RoundingMode::up ? !negative : how == RoundingMode::down ? negative : false;
}

/// Subnormals included. A NaN becomes 0x7fff; what is beyond the largest number, infinity or that number, as `how`
/// says.
template <Dtype to>
std::uint16_t rounded(double value, RoundingMode how) {
  constexpr FormatRow row = format_row(to);
  static_assert(row.bytes == 2 && row.has_infinities);
  constexpr int fraction = row.p - 1, least = row.emin, largest = row.emax;
  constexpr std::uint64_t infinity = row.infinity();
  const auto bits = std::bit_cast<std::uint64_t>(value), magnitude = bits & ~(std::uint64_t{1} << 63);
  const auto sign = static_cast<std::uint64_t>(bits >> 63 << 15);
  if (magnitude > std::uint64_t{0x7ff} << 52) return canonical_nan;
  if (magnitude == std::uint64_t{0x7ff} << 52) return static_cast<std::uint16_t>(sign | infinity);
  const bool away = rounds_away(how, sign != 0);
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  std::uint64_t result = infinity;
  if (exponent <= largest) {
    const std::uint64_t hidden = std::uint64_t{magnitude >> 52 != 0} << 52;
    const std::uint64_t significand = (magnitude & ((std::uint64_t{1} << 52) - 1)) | hidden;
    const int below = exponent < least ? least - exponent : 0;
    const int shift = 52 - fraction + below < 63 ? 52 - fraction + below : 63;
    const std::uint64_t kept = significand >> shift, rest = significand - (kept << shift);
    const std::uint64_t middle = std::uint64_t{1} << (shift - 1);
    const bool nearest_up = rest > middle || (rest == middle && (kept & 1) != 0);
    // The hidden bit is one more in the exponent's place; a carry reaches the exponent, up to infinity.
    result = below > 0 ? kept : kept + (static_cast<std::uint64_t>(exponent - least) << fraction);
    result += how == RoundingMode::nearest ? nearest_up : away && rest != 0;
  }
  if (result >= infinity && !away && how != RoundingMode::nearest) result = infinity - 1;
  return static_cast<std::uint16_t>(sign | (result < infinity ? result : infinity));
}

// Arithmetic in a 16-bit format S, rounded once to nearest even, subnormals included; every NaN is 0x7fff.
//
// Sums, differences and products go through fp32: it has 24 digits, at least twice as many and two more than the
// 16-bit formats, so the second rounding does no harm. For a fused multiply-add that does not hold: it goes through
// binary64, which holds the product exactly, and the sum's last bit there is made odd where the sum is inexact, so that
// no tie of the 16-bit format appears or disappears.

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

// CUDA's words for 16-bit arithmetic and comparison, on the host: one rounding each. The words without `_rn` are the
// same here; nvcc may fuse __hmul with __hadd, so kernels say __hmul_rn and __hadd_rn, which it leaves alone, or
// __hfma.

template <SixteenBits S>
S __hadd(S a, S b) {
  return S(static_cast<float>(a) + static_cast<float>(b));
}
template <SixteenBits S>
S __hadd_rn(S a, S b) {
  return S(static_cast<float>(a) + static_cast<float>(b));
}
template <SixteenBits S>
S __hadd_sat(S a, S b) {
  return saturated(__hadd_rn(a, b));
}
template <SixteenBits S>
S __hsub(S a, S b) {
  return S(static_cast<float>(a) - static_cast<float>(b));
}
template <SixteenBits S>
S __hsub_rn(S a, S b) {
  return S(static_cast<float>(a) - static_cast<float>(b));
}
template <SixteenBits S>
S __hsub_sat(S a, S b) {
  return saturated(__hsub_rn(a, b));
}
template <SixteenBits S>
S __hmul(S a, S b) {
  return S(static_cast<float>(a) * static_cast<float>(b));
}
template <SixteenBits S>
S __hmul_rn(S a, S b) {
  return S(static_cast<float>(a) * static_cast<float>(b));
}
template <SixteenBits S>
S __hmul_sat(S a, S b) {
  return saturated(__hmul_rn(a, b));
}
template <SixteenBits S>
S __hfma(S a, S b, S c) {
  return fused_multiply_add(a, b, c);
}
template <SixteenBits S>
S __hfma_sat(S a, S b, S c) {
  return saturated(__hfma(a, b, c));
}
template <SixteenBits S>
S __hneg(S a) {
  return negated(a);
}
template <SixteenBits S>
S __habs(S a) {
  return from_bits<S>(static_cast<std::uint16_t>(a.bits & 0x7fffu));
}
template <SixteenBits S>
S __hmax(S a, S b) {
  return larger(a, b, false);
}
template <SixteenBits S>
S __hmax_nan(S a, S b) {
  return larger(a, b, true);
}
template <SixteenBits S>
S __hmin(S a, S b) {
  return smaller(a, b, false);
}
template <SixteenBits S>
S __hmin_nan(S a, S b) {
  return smaller(a, b, true);
}

// Comparisons: false with a NaN; those that end in u, true with a NaN.
template <SixteenBits S>
bool __heq(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) == static_cast<float>(b);
}
template <SixteenBits S>
bool __hequ(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) == static_cast<float>(b);
}
template <SixteenBits S>
bool __hne(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) != static_cast<float>(b);
}
template <SixteenBits S>
bool __hneu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) != static_cast<float>(b);
}
template <SixteenBits S>
bool __hlt(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) < static_cast<float>(b);
}
template <SixteenBits S>
bool __hltu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) < static_cast<float>(b);
}
template <SixteenBits S>
bool __hle(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) <= static_cast<float>(b);
}
template <SixteenBits S>
bool __hleu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) <= static_cast<float>(b);
}
template <SixteenBits S>
bool __hgt(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) > static_cast<float>(b);
}
template <SixteenBits S>
bool __hgtu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) > static_cast<float>(b);
}
template <SixteenBits S>
bool __hge(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) >= static_cast<float>(b);
}
template <SixteenBits S>
bool __hgeu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) >= static_cast<float>(b);
}
template <SixteenBits S>
bool __hisnan(S a) {
  return is_nan(a);
}
/// 1 for infinity, -1 for its negative.
template <SixteenBits S>
int __hisinf(S a) {
  const float x = static_cast<float>(a);
  return std::isinf(x) ? std::signbit(x) ? -1 : 1 : 0;
}

}  // namespace TALLY_SIDE
}  // namespace tally
