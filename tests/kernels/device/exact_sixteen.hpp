// 16-bit numbers as whole multiples of one unit, and the rounding of such a multiple by division alone: another way
// than the executor's, for comparison.
#pragma once

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

#include "kernels/device/half.hpp"

namespace tally {

using Whole = boost::multiprecision::cpp_int;

template <class S>
struct Shape16;
template <>
struct Shape16<half> {
  static constexpr int digits = 11, least_exponent = -14, largest_exponent = 15;
};
template <>
struct Shape16<bfloat16> {
  static constexpr int digits = 8, least_exponent = -126, largest_exponent = 127;
};

/// The exponent of the format's smallest number.
template <class S>
inline constexpr int last_place = Shape16<S>::least_exponent - Shape16<S>::digits + 1;

/// A finite number in units of 2^last_place.
template <class S>
Whole whole_of(S value) {
  constexpr int fraction = Shape16<S>::digits - 1;
  const unsigned magnitude = value.bits & 0x7fffu, exponent = magnitude >> fraction;
  Whole whole = magnitude & ((1u << fraction) - 1);
  if (exponent > 0) whole = (whole + (1u << fraction)) << (exponent - 1);
  return (value.bits & 0x8000u) != 0 ? Whole(-whole) : whole;
}

/// exact 2^unit, rounded; `zero_sign` where that is exactly 0. unit <= last_place.
template <class S>
std::uint16_t round_whole(const Whole& exact, int unit, RoundingMode how, bool zero_sign) {
  using Shape = Shape16<S>;
  const bool negative = exact == 0 ? zero_sign : exact < 0;
  const Whole size = abs(exact);
  const int top = size == 0 ? unit : static_cast<int>(msb(size)) + unit;
  const int place = std::max(top - Shape::digits + 1, last_place<S>);
  const Whole divisor = Whole(1) << (place - unit), floor = size / divisor, rest = size % divisor;
  bool up = how == RoundingMode::nearest && (2 * rest > divisor || (2 * rest == divisor && floor % 2 == 1));
  up = up || (rest > 0 && how == (negative ? RoundingMode::down : RoundingMode::up));
  const Whole kept = (up ? floor + 1 : floor) << (place - last_place<S>);
  constexpr std::uint16_t infinity = (2 * Shape::largest_exponent + 1) << (Shape::digits - 1);
  const Whole largest = whole_of(std::bit_cast<S>(static_cast<std::uint16_t>(infinity - 1)));
  const int carried = std::max(kept == 0 ? 0 : static_cast<int>(msb(kept)) - (Shape::digits - 1), 0);
  auto bits = static_cast<unsigned>(kept >> carried) + (static_cast<unsigned>(carried) << (Shape::digits - 1));
  if (kept > largest) {
    const bool to_infinity = how == RoundingMode::nearest || how == (negative ? RoundingMode::down : RoundingMode::up);
    bits = to_infinity ? infinity : infinity - 1;
  }
  return static_cast<std::uint16_t>(bits | (negative ? 0x8000u : 0u));
}

}  // namespace tally
