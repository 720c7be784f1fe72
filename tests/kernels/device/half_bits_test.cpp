// The host's conversions beside those of CUDA's headers, where these are found.
#include "kernels/device/host/half_bits.hpp"

#include <gtest/gtest.h>

#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define TALLY_HAS_CUDA_HALVES 1
#endif

namespace tally {
namespace {

#ifdef TALLY_HAS_CUDA_HALVES

TEST(HalfBits, WidenAsCudaDoes) {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const auto raw = static_cast<std::uint16_t>(bits);
    const float halves[2] = {half_value(raw), __half2float(__half(__half_raw{raw}))};
    const float brains[2] = {bfloat16_value(raw), __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{raw}))};
    ASSERT_EQ(std::bit_cast<std::uint32_t>(halves[0]), std::bit_cast<std::uint32_t>(halves[1])) << bits;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(brains[0]), std::bit_cast<std::uint32_t>(brains[1])) << bits;
  }
}

TEST(HalfBits, NarrowAsCudaDoes) {
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 251) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_EQ(half_bits(x), static_cast<__half_raw>(__float2half_rn(x)).x) << bits;
    ASSERT_EQ(bfloat16_bits(x), static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(x)).x) << bits;
  }
}

#else

TEST(HalfBits, WidenAndNarrowAsCudaDoes) { GTEST_SKIP() << "no cuda_fp16.h found"; }

#endif

}  // namespace
}  // namespace tally
