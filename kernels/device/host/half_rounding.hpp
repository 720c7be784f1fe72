// One rounding from binary64 to a 16-bit format, in each of CUDA's directions.
#pragma once

#include <bit>
#include <cstdint>

#include "oracle/case/formats.hpp"

namespace tally {
inline namespace TALLY_SIDE {

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

}  // namespace TALLY_SIDE
}  // namespace tally
