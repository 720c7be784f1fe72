// CUDA's pairs of 16-bit numbers on the host: each word does to both parts what its single form does.
#pragma once

#include "kernels/device/host/half_conversions.hpp"
#include "kernels/device/host/half_words.hpp"

namespace tally {
inline namespace TALLY_SIDE {

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
