// Conversions between fp32 and the 16-bit formats, on bits alone; target-independent and easy to vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace tally {
inline namespace TALLY_SIDE {

/// binary16, rounded to nearest even. Below 2^-14, where halves are multiples of 2^-24, adding 0.5 rounds: that is the
/// last place of fp32 numbers from 0.5 on.
inline std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t result;
  if (magnitude >= 0x47800000u) {  // 2^16 and above, infinity, NaN
    result = magnitude > 0x7f800000u ? 0x7fffu : 0x7c00u | sign;
    return static_cast<std::uint16_t>(result);
  }
  if (magnitude < 0x38800000u) {  // below 2^-14
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  } else {
    const std::uint32_t rebiased = magnitude - (112u << 23);
    result = (rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13;  // a carry reaches the exponent, up to infinity
  }
  return static_cast<std::uint16_t>(result | sign);
}

/// Exact; a NaN becomes 0x7fffffff, as CUDA's does.
inline float half_value(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, fraction = bits & 0x3ffu;
  if (exponent == 31u) return std::bit_cast<float>(fraction != 0u ? 0x7fffffffu : sign | 0x7f800000u);
  if (exponent == 0u) {  // fraction * 2^-24, exactly
    const float magnitude = static_cast<float>(static_cast<int>(fraction)) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | (exponent + 112u) << 23 | fraction << 13);
}

/// bfloat16: the upper half of an fp32, rounded to nearest even.
inline std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float bfloat16_value(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace TALLY_SIDE
}  // namespace tally
