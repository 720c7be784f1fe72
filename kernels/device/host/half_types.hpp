// The 16-bit storage types on the host: two bytes, with CUDA's conversions, bit for bit.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/device/host/half_bits.hpp"

namespace tally {
inline namespace TALLY_SIDE {

struct half {
  std::uint16_t bits;
  half() = default;
  explicit half(float value) : bits(half_bits(value)) {}
  explicit operator float() const { return half_value(bits); }
};

struct bfloat16 {
  std::uint16_t bits;
  bfloat16() = default;
  explicit bfloat16(float value) : bits(bfloat16_bits(value)) {}
  explicit operator float() const { return bfloat16_value(bits); }
};

/// CUDA's names for the two.
using __half = half;
using __nv_bfloat16 = bfloat16;

template <class S>
concept SixteenBits = std::is_same_v<S, half> || std::is_same_v<S, bfloat16>;

}  // namespace TALLY_SIDE
}  // namespace tally
