// The host's conversions and arithmetic beside those of CUDA's headers, where these are found.
#include <gtest/gtest.h>

#include "kernels/device/host/half_arithmetic.hpp"
#include "kernels/device/host/half_conversions.hpp"
#include "kernels/device/host/half_types.hpp"

#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define TALLY_HAS_CUDA_HALVES 1
#endif

namespace tally::half_bits_test {
namespace {

#ifdef TALLY_HAS_CUDA_HALVES

TEST(HalfBits, WidenAsCudaDoes) {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const auto raw = static_cast<std::uint16_t>(bits);
    const float halves[2] = {widened<Dtype::fp16>(raw), __half2float(::__half(__half_raw{raw}))};
    const float brains[2] = {widened<Dtype::bf16>(raw), __bfloat162float(::__nv_bfloat16(__nv_bfloat16_raw{raw}))};
    ASSERT_EQ(std::bit_cast<std::uint32_t>(halves[0]), std::bit_cast<std::uint32_t>(halves[1])) << bits;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(brains[0]), std::bit_cast<std::uint32_t>(brains[1])) << bits;
  }
}

std::uint16_t bits_of(::__half a) { return static_cast<__half_raw>(a).x; }
std::uint16_t bits_of(::__nv_bfloat16 a) { return static_cast<__nv_bfloat16_raw>(a).x; }

/// Equal, or both a NaN: the sign of CUDA's differs from header to header.
template <SixteenBits S>
bool same(S a, auto of_cuda) {
  return a.bits == bits_of(of_cuda) || (is_nan(a) && is_nan(from_bits<S>(bits_of(of_cuda))));
}

TEST(HalfBits, NarrowInEveryDirectionAsCudaDoes) {
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 1009) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_TRUE(same(__float2half_rz(x), ::__float2half_rz(x)) && same(__float2half_ru(x), ::__float2half_ru(x)) &&
                same(__float2half_rd(x), ::__float2half_rd(x)))
        << bits;
    ASSERT_TRUE(same(__float2bfloat16_rz(x), ::__float2bfloat16_rz(x)) &&
                same(__float2bfloat16_ru(x), ::__float2bfloat16_ru(x)) &&
                same(__float2bfloat16_rd(x), ::__float2bfloat16_rd(x)))
        << bits;
  }
}

TEST(HalfBits, ReckonAsCudaDoes) {
  for (std::uint32_t pair = 0; pair < 3000000; ++pair) {
    const auto a = static_cast<std::uint16_t>(pair * 0x9e37u), b = static_cast<std::uint16_t>(pair * 0x85ebca6bu >> 16);
    const ::__half x(__half_raw{a}), y(__half_raw{b});
    const half p = from_bits<half>(a), q = from_bits<half>(b);
    ASSERT_TRUE(same(__hadd_rn(p, q), ::__hadd_rn(x, y)) && same(__hsub_rn(p, q), ::__hsub_rn(x, y)) &&
                same(__hmul_rn(p, q), ::__hmul_rn(x, y)) && same(__hmax(p, q), ::__hmax(x, y)) &&
                same(__hmin_nan(p, q), ::__hmin_nan(x, y)) && __hne(p, q) == ::__hne(x, y) &&
                __hltu(p, q) == ::__hltu(x, y) && __half2int_rz(p) == ::__half2int_rz(x) &&
                __half2uint_rz(p) == ::__half2uint_rz(x))
        << a << " " << b;
    const ::__nv_bfloat16 u(__nv_bfloat16_raw{a}), v(__nv_bfloat16_raw{b});
    const bfloat16 r = from_bits<bfloat16>(a), s = from_bits<bfloat16>(b);
    ASSERT_TRUE(same(__hadd_rn(r, s), ::__hadd_rn(u, v)) && same(__hmul_rn(r, s), ::__hmul_rn(u, v)) &&
                same(__hmin(r, s), ::__hmin(u, v)) && same(__hmax_nan(r, s), ::__hmax_nan(u, v)) &&
                __hge(r, s) == ::__hge(u, v) && __bfloat162int_rz(r) == ::__bfloat162int_rz(u))
        << a << " " << b;
  }
}

TEST(HalfBits, NarrowAsCudaDoes) {
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 251) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_EQ(narrowed_bits<Dtype::fp16>(x), static_cast<__half_raw>(::__float2half_rn(x)).x) << bits;
    ASSERT_EQ(narrowed_bits<Dtype::bf16>(x), static_cast<__nv_bfloat16_raw>(::__float2bfloat16_rn(x)).x) << bits;
  }
}

#else

TEST(HalfBits, WidenAndNarrowAsCudaDoes) { GTEST_SKIP() << "no cuda_fp16.h found"; }

#endif

}  // namespace
}  // namespace tally::half_bits_test
