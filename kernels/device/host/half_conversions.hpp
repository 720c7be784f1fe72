// CUDA's words for conversions of the 16-bit formats, and for pairs of them, on the host.
#pragma once

#include "kernels/device/host/half_arithmetic.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// CUDA's words for conversions between the 16-bit formats and others, on the host: _rn to nearest even, _rz to zero,
// _ru up, _rd down. To an integer a NaN gives 0, and what is beyond its ends, the end.

inline float __half2float(half a) { return static_cast<float>(a); }
inline half __float2half(float a) { return half(a); }
inline half __double2half(double a) { return from_double<half>(a); }
inline half __float2half_rn(float a) { return half(a); }
inline half __int2half_rn(int a) { return from_double<half>(a, RoundingMode::nearest); }
inline half __uint2half_rn(unsigned a) { return from_double<half>(a, RoundingMode::nearest); }
inline int __half2int_rn(half a) { return to_integer<int>(a, RoundingMode::nearest); }
inline unsigned __half2uint_rn(half a) { return to_integer<unsigned>(a, RoundingMode::nearest); }
inline half __float2half_rz(float a) { return from_double<half>(static_cast<double>(a), RoundingMode::zero); }
inline half __int2half_rz(int a) { return from_double<half>(a, RoundingMode::zero); }
inline half __uint2half_rz(unsigned a) { return from_double<half>(a, RoundingMode::zero); }
inline int __half2int_rz(half a) { return to_integer<int>(a, RoundingMode::zero); }
inline unsigned __half2uint_rz(half a) { return to_integer<unsigned>(a, RoundingMode::zero); }
inline half __float2half_ru(float a) { return from_double<half>(static_cast<double>(a), RoundingMode::up); }
inline half __int2half_ru(int a) { return from_double<half>(a, RoundingMode::up); }
inline half __uint2half_ru(unsigned a) { return from_double<half>(a, RoundingMode::up); }
inline int __half2int_ru(half a) { return to_integer<int>(a, RoundingMode::up); }
inline unsigned __half2uint_ru(half a) { return to_integer<unsigned>(a, RoundingMode::up); }
inline half __float2half_rd(float a) { return from_double<half>(static_cast<double>(a), RoundingMode::down); }
inline half __int2half_rd(int a) { return from_double<half>(a, RoundingMode::down); }
inline half __uint2half_rd(unsigned a) { return from_double<half>(a, RoundingMode::down); }
inline int __half2int_rd(half a) { return to_integer<int>(a, RoundingMode::down); }
inline unsigned __half2uint_rd(half a) { return to_integer<unsigned>(a, RoundingMode::down); }
inline unsigned short __half_as_ushort(half a) { return a.bits; }
inline half __ushort_as_half(unsigned short a) { return from_bits<half>(a); }

inline float __bfloat162float(bfloat16 a) { return static_cast<float>(a); }
inline bfloat16 __float2bfloat16(float a) { return bfloat16(a); }
inline bfloat16 __double2bfloat16(double a) { return from_double<bfloat16>(a); }
inline bfloat16 __float2bfloat16_rn(float a) { return bfloat16(a); }
inline bfloat16 __int2bfloat16_rn(int a) { return from_double<bfloat16>(a, RoundingMode::nearest); }
inline bfloat16 __uint2bfloat16_rn(unsigned a) { return from_double<bfloat16>(a, RoundingMode::nearest); }
inline int __bfloat162int_rn(bfloat16 a) { return to_integer<int>(a, RoundingMode::nearest); }
inline unsigned __bfloat162uint_rn(bfloat16 a) { return to_integer<unsigned>(a, RoundingMode::nearest); }
inline bfloat16 __float2bfloat16_rz(float a) {
  return from_double<bfloat16>(static_cast<double>(a), RoundingMode::zero);
}
inline bfloat16 __int2bfloat16_rz(int a) { return from_double<bfloat16>(a, RoundingMode::zero); }
inline bfloat16 __uint2bfloat16_rz(unsigned a) { return from_double<bfloat16>(a, RoundingMode::zero); }
inline int __bfloat162int_rz(bfloat16 a) { return to_integer<int>(a, RoundingMode::zero); }
inline unsigned __bfloat162uint_rz(bfloat16 a) { return to_integer<unsigned>(a, RoundingMode::zero); }
inline bfloat16 __float2bfloat16_ru(float a) { return from_double<bfloat16>(static_cast<double>(a), RoundingMode::up); }
inline bfloat16 __int2bfloat16_ru(int a) { return from_double<bfloat16>(a, RoundingMode::up); }
inline bfloat16 __uint2bfloat16_ru(unsigned a) { return from_double<bfloat16>(a, RoundingMode::up); }
inline int __bfloat162int_ru(bfloat16 a) { return to_integer<int>(a, RoundingMode::up); }
inline unsigned __bfloat162uint_ru(bfloat16 a) { return to_integer<unsigned>(a, RoundingMode::up); }
inline bfloat16 __float2bfloat16_rd(float a) {
  return from_double<bfloat16>(static_cast<double>(a), RoundingMode::down);
}
inline bfloat16 __int2bfloat16_rd(int a) { return from_double<bfloat16>(a, RoundingMode::down); }
inline bfloat16 __uint2bfloat16_rd(unsigned a) { return from_double<bfloat16>(a, RoundingMode::down); }
inline int __bfloat162int_rd(bfloat16 a) { return to_integer<int>(a, RoundingMode::down); }
inline unsigned __bfloat162uint_rd(bfloat16 a) { return to_integer<unsigned>(a, RoundingMode::down); }
inline unsigned short __bfloat16_as_ushort(bfloat16 a) { return a.bits; }
inline bfloat16 __ushort_as_bfloat16(unsigned short a) { return from_bits<bfloat16>(a); }

// CUDA's pairs of 16-bit numbers on the host: each word does to both parts what its single form does.

struct alignas(4) __half2 {
  using Part = half;
  half x, y;
};
struct alignas(4) __nv_bfloat162 {
  using Part = bfloat16;
  bfloat16 x, y;
};
using half2 = __half2;

template <class P>
concept SixteenBitPair = std::is_same_v<P, __half2> || std::is_same_v<P, __nv_bfloat162>;

inline __half2 __halves2half2(half low, half high) { return {low, high}; }
inline __half2 __half2half2(half both) { return {both, both}; }
inline __half2 __floats2half2_rn(float low, float high) { return {half(low), half(high)}; }
inline __nv_bfloat162 __halves2bfloat162(bfloat16 low, bfloat16 high) { return {low, high}; }
inline __nv_bfloat162 __bfloat162bfloat162(bfloat16 both) { return {both, both}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float low, float high) { return {bfloat16(low), bfloat16(high)}; }
inline half __low2half(__half2 pair) { return pair.x; }
inline half __high2half(__half2 pair) { return pair.y; }
inline bfloat16 __low2bfloat16(__nv_bfloat162 pair) { return pair.x; }
inline bfloat16 __high2bfloat16(__nv_bfloat162 pair) { return pair.y; }
template <SixteenBitPair P>
float __low2float(P pair) {
  return static_cast<float>(pair.x);
}
template <SixteenBitPair P>
float __high2float(P pair) {
  return static_cast<float>(pair.y);
}

template <SixteenBitPair P>
P __hadd2(P a, P b) {
  return {__hadd_rn(a.x, b.x), __hadd_rn(a.y, b.y)};
}
template <SixteenBitPair P>
P __hadd2_rn(P a, P b) {
  return {__hadd_rn(a.x, b.x), __hadd_rn(a.y, b.y)};
}
template <SixteenBitPair P>
P __hsub2(P a, P b) {
  return {__hsub_rn(a.x, b.x), __hsub_rn(a.y, b.y)};
}
template <SixteenBitPair P>
P __hsub2_rn(P a, P b) {
  return {__hsub_rn(a.x, b.x), __hsub_rn(a.y, b.y)};
}
template <SixteenBitPair P>
P __hmul2(P a, P b) {
  return {__hmul_rn(a.x, b.x), __hmul_rn(a.y, b.y)};
}
template <SixteenBitPair P>
P __hmul2_rn(P a, P b) {
  return {__hmul_rn(a.x, b.x), __hmul_rn(a.y, b.y)};
}
template <SixteenBitPair P>
P __hfma2(P a, P b, P c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <SixteenBitPair P>
P __hneg2(P a) {
  return {__hneg(a.x), __hneg(a.y)};
}
template <SixteenBitPair P>
P __habs2(P a) {
  return {__habs(a.x), __habs(a.y)};
}
template <SixteenBitPair P>
P __hmax2(P a, P b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
template <SixteenBitPair P>
P __hmin2(P a, P b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}

}  // namespace TALLY_SIDE
}  // namespace tally
