// The 16-bit storage types on the host: two bytes, with CUDA's conversions, bit for bit.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/device/host/half_bits.hpp"

namespace tally {
inline namespace TALLY_SIDE {

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
