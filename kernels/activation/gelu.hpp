// GELU of one element in fp32, by erf and by tanh: what the activation and the gate by it share.
#pragma once

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/detmath.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// y = x Phi(x), (gelu.1), and dx, (gelu.2), from x, rounded as kernels/arithmetic.md says: of one element in fp32.

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

// y = x/2 (1 + tanh(k (x + a x^3))), (gelu.3), and dx, (gelu.4), from x, rounded as kernels/arithmetic.md says: of one
// element in fp32.

struct GeluTanh {
  static constexpr float root_2_over_pi = 0x1.988454p-1f;  // k
  static constexpr float cubic = 0x1.6e4e26p-5f;           // a = 0.044715
  static constexpr float triple_cubic = 0x1.12ba9ep-3f;    // 3 a

  __device__ static float inner_tanh(float x) {
    const float cube = __fmul_rn(x, __fmul_rn(x, x));
    return det_tanh(__fmul_rn(root_2_over_pi, __fadd_rn(x, __fmul_rn(cubic, cube))));
  }

  __device__ static float forward(float x) { return __fmul_rn(__fmul_rn(0.5f, x), __fadd_rn(1.0f, inner_tanh(x))); }
  __device__ static float backward(float x, float dy) {
    const float t = inner_tanh(x);
    const float inner_slope = __fmul_rn(root_2_over_pi, __fadd_rn(1.0f, __fmul_rn(triple_cubic, __fmul_rn(x, x))));
    const float outer_slope = __fmul_rn(__fmul_rn(0.5f, x), __fsub_rn(1.0f, __fmul_rn(t, t)));
    return __fmul_rn(dy, __fadd_rn(__fmul_rn(0.5f, __fadd_rn(1.0f, t)), __fmul_rn(outer_slope, inner_slope)));
  }
};

}  // namespace TALLY_SIDE
}  // namespace tally
