// Softplus, (softplus.1) and (softplus.2), with z = exp(x); stored in S:
//   y  = x > 20 ? x : log1p(z)
//   dx = x > 20 ? dy : fl(dy fl(z / fl(z + 1)))
#include "kernels/activation/activation.hpp"
#include "kernels/device/detmath.hpp"

namespace tally::softplus_kernel {
namespace {

/// log(1 + z) of z >= 0 within detmath_ulp, in binary64 as det_log of 1 + z. Where that is below sqrt(2), m - 1 is z
/// itself, of which nothing is lost however small it is.
__device__ inline float log1p_of(float z) {
  if (!(z >= 0.0f)) return z;  // NaN
  const Mantissa split = mantissa(__dadd_rn(1.0, z));
  return log_of(split, split.exponent == 0 ? z : __dsub_rn(split.m, 1.0));
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
