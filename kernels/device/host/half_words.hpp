// CUDA's words for 16-bit arithmetic and comparison, on the host: one rounding each. The words without `_rn` are the
// same here; nvcc may fuse __hmul with __hadd, so kernels say __hmul_rn and __hadd_rn, which it leaves alone, or
// __hfma.
#pragma once

#include "kernels/device/host/half_arithmetic.hpp"

namespace tally {
inline namespace TALLY_SIDE {

template <SixteenBits S>
S __hadd(S a, S b) {
  return S(static_cast<float>(a) + static_cast<float>(b));
}
template <SixteenBits S>
S __hadd_rn(S a, S b) {
  return S(static_cast<float>(a) + static_cast<float>(b));
}
template <SixteenBits S>
S __hadd_sat(S a, S b) {
  return saturated(__hadd_rn(a, b));
}
template <SixteenBits S>
S __hsub(S a, S b) {
  return S(static_cast<float>(a) - static_cast<float>(b));
}
template <SixteenBits S>
S __hsub_rn(S a, S b) {
  return S(static_cast<float>(a) - static_cast<float>(b));
}
template <SixteenBits S>
S __hsub_sat(S a, S b) {
  return saturated(__hsub_rn(a, b));
}
template <SixteenBits S>
S __hmul(S a, S b) {
  return S(static_cast<float>(a) * static_cast<float>(b));
}
template <SixteenBits S>
S __hmul_rn(S a, S b) {
  return S(static_cast<float>(a) * static_cast<float>(b));
}
template <SixteenBits S>
S __hmul_sat(S a, S b) {
  return saturated(__hmul_rn(a, b));
}
template <SixteenBits S>
S __hfma(S a, S b, S c) {
  return fused_multiply_add(a, b, c);
}
template <SixteenBits S>
S __hfma_sat(S a, S b, S c) {
  return saturated(__hfma(a, b, c));
}
template <SixteenBits S>
S __hneg(S a) {
  return negated(a);
}
template <SixteenBits S>
S __habs(S a) {
  return from_bits<S>(static_cast<std::uint16_t>(a.bits & 0x7fffu));
}
template <SixteenBits S>
S __hmax(S a, S b) {
  return larger(a, b, false);
}
template <SixteenBits S>
S __hmax_nan(S a, S b) {
  return larger(a, b, true);
}
template <SixteenBits S>
S __hmin(S a, S b) {
  return smaller(a, b, false);
}
template <SixteenBits S>
S __hmin_nan(S a, S b) {
  return smaller(a, b, true);
}

// Comparisons: false with a NaN; those that end in u, true with a NaN.
template <SixteenBits S>
bool __heq(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) == static_cast<float>(b);
}
template <SixteenBits S>
bool __hequ(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) == static_cast<float>(b);
}
template <SixteenBits S>
bool __hne(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) != static_cast<float>(b);
}
template <SixteenBits S>
bool __hneu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) != static_cast<float>(b);
}
template <SixteenBits S>
bool __hlt(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) < static_cast<float>(b);
}
template <SixteenBits S>
bool __hltu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) < static_cast<float>(b);
}
template <SixteenBits S>
bool __hle(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) <= static_cast<float>(b);
}
template <SixteenBits S>
bool __hleu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) <= static_cast<float>(b);
}
template <SixteenBits S>
bool __hgt(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) > static_cast<float>(b);
}
template <SixteenBits S>
bool __hgtu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) > static_cast<float>(b);
}
template <SixteenBits S>
bool __hge(S a, S b) {
  return !is_nan(a) && !is_nan(b) && static_cast<float>(a) >= static_cast<float>(b);
}
template <SixteenBits S>
bool __hgeu(S a, S b) {
  return is_nan(a) || is_nan(b) || static_cast<float>(a) >= static_cast<float>(b);
}
template <SixteenBits S>
bool __hisnan(S a) {
  return is_nan(a);
}
/// 1 for infinity, -1 for its negative.
template <SixteenBits S>
int __hisinf(S a) {
  const float x = static_cast<float>(a);
  return std::isinf(x) ? std::signbit(x) ? -1 : 1 : 0;
}

}  // namespace TALLY_SIDE
}  // namespace tally
