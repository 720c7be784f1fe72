// y = x Phi(x), (gelu.1), and dx, (gelu.2), from x, rounded as kernels/arithmetic.md says: of one element in fp32.
#pragma once

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/detmath.hpp"

namespace tally {
inline namespace TALLY_SIDE {

struct GeluErf {
  static constexpr float inverse_root_2 = 0x1.6a09e6p-1f;     // 1 / sqrt(2)
  static constexpr float inverse_root_2_pi = 0x1.988454p-2f;  // 1 / sqrt(2 pi)

  /// 1 + erf(x / sqrt 2), twice the normal distribution function.
  __device__ static float twice_phi(float x) { return __fadd_rn(1.0f, det_erf(__fmul_rn(x, inverse_root_2))); }

  __device__ static float forward(float x) { return __fmul_rn(__fmul_rn(0.5f, x), twice_phi(x)); }
  __device__ static float backward(float x, float dy) {
    const float distribution = __fmul_rn(0.5f, twice_phi(x));
    const float density = __fmul_rn(det_exp(__fmul_rn(-0.5f, __fmul_rn(x, x))), inverse_root_2_pi);
    return __fmul_rn(dy, __fadd_rn(distribution, __fmul_rn(x, density)));
  }
};

}  // namespace TALLY_SIDE
}  // namespace tally
