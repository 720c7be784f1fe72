// exp, exp2, log, tanh, erf and 1/sqrt, the same bits on the host and on every device: binary64 additions, multiplications,
// divisions and square roots rounded to nearest, then one rounding to fp32. No fused operation, no libm, no table.
//
// Each is within 0.51 ulp of the exact value, in the ulp of the exact value's binade, subnormal results included: half
// of it is the last rounding, the rest what is left out of a series and binary64's own rounding. Held against MPFR in
// every binade, and by a nightly sweep over every float; what kernels claim by it is `detmath_ulp`, from which the
// bounds of oracle/tolerance count 1.02 u. Overflow gives infinity as the exact value rounded would. det_exp(-inf) and
// det_exp2(-inf) are 0, det_exp2 of a whole number is that power of two, det_log(0) = -inf, det_log and det_rsqrt of
// negative numbers are NaN, det_tanh and det_erf keep the sign of zero; NaN gives NaN.
#pragma once

#include "kernels/device/cuda_words.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// What a kernel that uses these functions and no others claims as `function_ulp`.
inline constexpr double detmath_ulp = 0.51;

/// acc * x + coefficient, two roundings.
__device__ inline double horner(double acc, double x, double coefficient) {
  return __dadd_rn(__dmul_rn(acc, x), coefficient);
}

/// e^t as scale + scale * rest, scale a power of two: e^t - 1 then loses nothing near zero.
struct Exponential {
  double scale, rest;
};

/// For |t| <= 200, or NaN. n = t / ln 2 to the nearest integer, r = t - n ln 2, rest = e^r - 1 by Taylor to r^10;
/// the terms left out are below 6.2e-13 of it, since |r| <= 0.347.
__device__ inline Exponential exponential(double t) {
  const double shift = 0x1.8p52;  // its last place is 1: adding it rounds to an integer, which stands in the last bits
  const double shifted = __dadd_rn(__dmul_rn(t, 0x1.71547652b82fep0), shift);
  const double r = __dsub_rn(t, __dmul_rn(__dsub_rn(shifted, shift), 0x1.62e42fefa39efp-1));
  double sum = 1.0 / 3628800;
  sum = horner(sum, r, 1.0 / 362880);
  sum = horner(sum, r, 1.0 / 40320);
  sum = horner(sum, r, 1.0 / 5040);
  sum = horner(sum, r, 1.0 / 720);
  sum = horner(sum, r, 1.0 / 120);
  sum = horner(sum, r, 1.0 / 24);
  sum = horner(sum, r, 1.0 / 6);
  sum = horner(sum, r, 0.5);
  sum = horner(sum, r, 1.0);
  const auto power = static_cast<unsigned long long>(__double_as_longlong(shifted)) + 1023;  // biased exponent
  return {__longlong_as_double(static_cast<long long>(power << 52)), __dmul_rn(sum, r)};
}

__device__ inline float det_exp(float x) {
  double t = x;
  if (t > 128.0) t = 128.0;    // already infinite in fp32
  if (t < -128.0) t = -128.0;  // already zero
  const Exponential e = exponential(t);
  return __double2float_rn(__dadd_rn(e.scale, __dmul_rn(e.scale, e.rest)));
}

/// e^(x ln 2). The product's rounding is at most 2^-53 of 112, which is 1.3e-14 of the result; of a whole x it is undone
/// by the same product in `exponential`, so that the rest is 0.
__device__ inline float det_exp2(float x) {
  double t = x;
  if (t > 160.0) t = 160.0;    // already infinite in fp32
  if (t < -160.0) t = -160.0;  // already zero
  const Exponential e = exponential(__dmul_rn(t, 0x1.62e42fefa39efp-1));
  return __double2float_rn(__dadd_rn(e.scale, __dmul_rn(e.scale, e.rest)));
}

/// x = 2^exponent m, m in [sqrt(1/2), sqrt(2)), of a positive normal number.
struct Mantissa {
  long long exponent;
  double m;
};
__device__ inline Mantissa mantissa(double x) {
  const long long bits = __double_as_longlong(x);
  const long long root_half = 0x3fe6a09e667f3bcdll;
  const long long exponent = (bits - root_half) >> 52;
  return {exponent, __longlong_as_double(bits - exponent * (1ll << 52))};
}

/// log of 2^exponent m, where `less` is m - 1: log m = 2 artanh f, f = (m - 1) / (m + 1), as an odd series to f^15; the
/// terms left out are below 4e-14 of it, since f^2 <= 0.0295.
__device__ inline float log_of(Mantissa x, double less) {
  const double f = __ddiv_rn(less, __dadd_rn(x.m, 1.0)), square = __dmul_rn(f, f);
  double sum = 1.0 / 15;
  sum = horner(sum, square, 1.0 / 13);
  sum = horner(sum, square, 1.0 / 11);
  sum = horner(sum, square, 1.0 / 9);
  sum = horner(sum, square, 1.0 / 7);
  sum = horner(sum, square, 1.0 / 5);
  sum = horner(sum, square, 1.0 / 3);
  sum = horner(sum, square, 1.0);
  const double log_m = __dmul_rn(__dadd_rn(f, f), sum);
  return __double2float_rn(__dadd_rn(__dmul_rn(static_cast<double>(x.exponent), 0x1.62e42fefa39efp-1), log_m));
}

__device__ inline float det_log(float x) {
  if (!(x > 0.0f) || x == x + x) {  // not positive, NaN, infinity
    if (x == 0.0f) return __uint_as_float(0xff800000u);
    return x > 0.0f ? x : __uint_as_float(0x7fc00000u);
  }
  const Mantissa split = mantissa(static_cast<double>(x));  // a subnormal float is a normal double
  return log_of(split, __dsub_rn(split.m, 1.0));
}

/// (e^2|x| - 1) / (e^2|x| + 1) with x's sign; beyond 20 it rounds to 1.
__device__ inline float det_tanh(float x) {
  double t = x;
  if (t > 20.0) t = 20.0;
  if (t < -20.0) t = -20.0;
  if (t == 0.0) return x;
  const Exponential e = exponential(__dadd_rn(t, t));
  const double less_one = __dadd_rn(__dsub_rn(e.scale, 1.0), __dmul_rn(e.scale, e.rest));
  return __double2float_rn(__ddiv_rn(less_one, __dadd_rn(less_one, 2.0)));
}

/// Below 1: the Maclaurin series 2/sqrt(pi) (x - x^3/3 + x^5/(5 2!) - ...) to x^25; what is left out is below 5e-13.
__device__ inline double erf_series(double x) {
  const double s = -__dmul_rn(x, x);
  double sum = 1.0 / (25.0 * 479001600);
  sum = horner(sum, s, 1.0 / (23.0 * 39916800));
  sum = horner(sum, s, 1.0 / (21.0 * 3628800));
  sum = horner(sum, s, 1.0 / (19.0 * 362880));
  sum = horner(sum, s, 1.0 / (17.0 * 40320));
  sum = horner(sum, s, 1.0 / (15.0 * 5040));
  sum = horner(sum, s, 1.0 / (13.0 * 720));
  sum = horner(sum, s, 1.0 / (11.0 * 120));
  sum = horner(sum, s, 1.0 / (9.0 * 24));
  sum = horner(sum, s, 1.0 / (7.0 * 6));
  sum = horner(sum, s, 1.0 / (5.0 * 2));
  sum = horner(sum, s, 1.0 / 3);
  sum = horner(sum, s, 1.0);
  return __dmul_rn(__dmul_rn(x, sum), 0x1.20dd750429b6dp0);
}

/// From 1 to 4: the polynomial through erf at the 21 Chebyshev points of the interval, u = (x - 2.5) / 1.5; 1.3e-12.
__device__ inline double erf_polynomial(double x) {
  const double u = __ddiv_rn(__dsub_rn(x, 2.5), 1.5);
  double sum = 0x1.e1811489122fp-19;
  sum = horner(sum, u, -0x1.0490315745a38p-20);
  sum = horner(sum, u, -0x1.17a586f36051ap-15);
  sum = horner(sum, u, 0x1.3af7d54933333p-15);
  sum = horner(sum, u, 0x1.e1936a521da11p-14);
  sum = horner(sum, u, -0x1.3dc0c9897839ep-12);
  sum = horner(sum, u, 0x1.d14da7f1fff92p-15);
  sum = horner(sum, u, 0x1.e709a087eccfep-11);
  sum = horner(sum, u, -0x1.df3c4aa9a8f16p-10);
  sum = horner(sum, u, 0x1.ca1cebb04c0bdp-12);
  sum = horner(sum, u, 0x1.29d40025657edp-8);
  sum = horner(sum, u, -0x1.3b371acbabbc1p-7);
  sum = horner(sum, u, 0x1.b5d2184711295p-8);
  sum = horner(sum, u, 0x1.2faacee91b88ap-7);
  sum = horner(sum, u, -0x1.0521f53949b68p-5);
  sum = horner(sum, u, 0x1.7c8c5ebf99f9ap-5);
  sum = horner(sum, u, -0x1.65964ef561de8p-5);
  sum = horner(sum, u, 0x1.cdb9fd59eb7f6p-6);
  sum = horner(sum, u, -0x1.9180586b5693fp-7);
  sum = horner(sum, u, 0x1.ac44a2cdb3db9p-9);
  return horner(sum, u, 0x1.ffcaa8f4c9beap-1);
}

__device__ inline float det_erf(float x) {
  const double t = x, magnitude = t < 0.0 ? -t : t;
  if (magnitude >= 4.0) return t > 0.0 ? 1.0f : -1.0f;  // 1 - erf(4) is 1.6e-8, below half an ulp
  if (!(magnitude >= 1.0)) return __double2float_rn(erf_series(t));
  const double value = erf_polynomial(magnitude);
  return __double2float_rn(t > 0.0 ? value : -value);
}

__device__ inline float det_rsqrt(float x) {
  return __double2float_rn(__ddiv_rn(1.0, __dsqrt_rn(static_cast<double>(x))));
}

}  // namespace TALLY_SIDE
}  // namespace tally
