// Softplus, (softplus.1) and (softplus.2), with z = exp(x); stored in S:
//   y  = x > 20 ? x : log1p(z)
//   dx = x > 20 ? dy : fl(dy fl(z / fl(z + 1)))
#include "kernels/activation/activation.hpp"
#include "kernels/device/detmath.hpp"

namespace tally::softplus_kernel {
namespace {

/// log(1 + z) of z >= 0 within detmath_ulp, in binary64 as det_log: 1 + z = 2^e m, m in [sqrt(1/2), sqrt(2)), log m =
/// 2 artanh f, f = (m - 1) / (m + 1). Where e is 0, m - 1 is z itself, of which nothing is lost however small it is.
__device__ inline float log1p_of(float z) {
  if (!(z >= 0.0f)) return z;  // NaN
  const double t = z, whole = __dadd_rn(1.0, t);
  const long long bits = __double_as_longlong(whole);
  const long long root_half = 0x3fe6a09e667f3bcdll;
  const long long exponent = (bits - root_half) >> 52;
  const double m = __longlong_as_double(bits - exponent * (1ll << 52));
  const double less = exponent == 0 ? t : __dsub_rn(m, 1.0);
  const double f = __ddiv_rn(less, __dadd_rn(m, 1.0)), square = __dmul_rn(f, f);
  double sum = 1.0 / 15;
  sum = horner(sum, square, 1.0 / 13);
  sum = horner(sum, square, 1.0 / 11);
  sum = horner(sum, square, 1.0 / 9);
  sum = horner(sum, square, 1.0 / 7);
  sum = horner(sum, square, 1.0 / 5);
  sum = horner(sum, square, 1.0 / 3);
  sum = horner(sum, square, 1.0);
  const double log_m = __dmul_rn(__dadd_rn(f, f), sum);
  return __double2float_rn(__dadd_rn(__dmul_rn(static_cast<double>(exponent), 0x1.62e42fefa39efp-1), log_m));
}

struct Softplus {
  static constexpr float threshold = 20.0f;

  __device__ static float forward(float x) { return x > threshold ? x : log1p_of(det_exp(x)); }
  __device__ static float backward(float x, float dy) {
    if (x > threshold) return dy;
    const float z = det_exp(x);
    return __fmul_rn(dy, __fdiv_rn(z, __fadd_rn(z, 1.0f)));
  }
};

const RegisterActivation<InFloat<Softplus>> registered("softplus",
                                                       {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::softplus_kernel
