// The 16-bit storage types on the host, and their conversions on bits alone.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// Conversions between fp32 and a narrower format, on bits alone; target-independent and easy to vectorise. What a
// format is says its row in oracle/case/tensors/tensor.hpp.

/// How much larger fp32's exponent field is than that of the format, in fp32's bits.
template <Dtype narrow>
inline constexpr std::uint32_t exponent_offset = static_cast<std::uint32_t>(format_row(narrow).emin + 126) << 23;

/// To nearest even, subnormal numbers included. Too large a number becomes what the row says; a NaN, all ones but the
/// sign, as CUDA's does.
template <Dtype to>
inline std::uint16_t narrowed_bits(float value) {
  constexpr FormatRow row = format_row(to);
  constexpr int dropped = 24 - row.p;
  constexpr auto smallest_normal = std::bit_cast<std::uint32_t>(static_cast<float>(row.smallest_normal()));
  constexpr auto largest = static_cast<std::uint32_t>(row.largest_bits());
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31 << (8 * row.bytes - 1), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(row.all_ones());
  std::uint32_t result;
  if (magnitude < smallest_normal) {
    // Adding a number whose last place in fp32 is the smallest subnormal rounds to multiples of that.
    constexpr auto rounder = static_cast<float>(row.smallest_subnormal() * 0x1p23);
    result =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + rounder) - std::bit_cast<std::uint32_t>(rounder);
  } else {
    const std::uint32_t rebiased = magnitude - exponent_offset<to>;
    constexpr std::uint32_t below_half = (1u << (dropped - 1)) - 1;
    result = (rebiased + below_half + ((rebiased >> dropped) & 1u)) >> dropped;  // a carry reaches the exponent
  }
  if (result > largest) result = static_cast<std::uint32_t>(row.overflow_bits());
  return static_cast<std::uint16_t>(result | sign);
}

/// Exact; a NaN becomes 0x7fffffff, as CUDA's does, but for a format with fp32's exponents, which is its upper part.
template <Dtype from>
inline float widened(std::uint16_t bits) {
  constexpr FormatRow row = format_row(from);
  constexpr int missing = 24 - row.p;
  if constexpr (row.has_range_of_fp32()) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << missing);
  const std::uint32_t sign = (bits & static_cast<std::uint32_t>(row.sign_bit())) << (32 - 8 * row.bytes);
  const std::uint32_t magnitude = bits & static_cast<std::uint32_t>(row.all_ones());
  if (magnitude > row.largest_bits()) {
    const bool infinite = row.has_infinities && magnitude == row.infinity();
    return std::bit_cast<float>(infinite ? sign | 0x7f800000u : 0x7fffffffu);
  }
  if (magnitude >> (row.p - 1) == 0u) {  // a multiple of the smallest subnormal, exactly
    const float value = static_cast<float>(static_cast<int>(magnitude)) * static_cast<float>(row.smallest_subnormal());
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | ((magnitude << missing) + exponent_offset<from>));
}

// The 16-bit storage types on the host: two bytes, with CUDA's conversions, bit for bit.

struct half {
  static constexpr Dtype dtype = Dtype::fp16;
  std::uint16_t bits;
  half() = default;
  explicit half(float value) : bits(narrowed_bits<Dtype::fp16>(value)) {}
  explicit operator float() const { return widened<Dtype::fp16>(bits); }
};

struct bfloat16 {
  static constexpr Dtype dtype = Dtype::bf16;
  std::uint16_t bits;
  bfloat16() = default;
  explicit bfloat16(float value) : bits(narrowed_bits<Dtype::bf16>(value)) {}
  explicit operator float() const { return widened<Dtype::bf16>(bits); }
};

/// CUDA's names for the two.
using __half = half;
using __nv_bfloat16 = bfloat16;

template <class S>
concept SixteenBits = std::is_same_v<S, half> || std::is_same_v<S, bfloat16>;

}  // namespace TALLY_SIDE
}  // namespace tally
