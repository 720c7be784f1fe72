// GELU of one element in fp32, by erf and by tanh: what the activation and the gate by it share.
#pragma once

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/detmath.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// By erf, (gelu.1) and (gelu.2), with c = fl(1 / sqrt 2):
//   y  = fl(fl(0.5 x) fl(1 + erf(fl(x c))))
//   P  = fl(0.5 fl(1 + erf(fl(x c))))
//   p  = fl(exp(fl(-0.5 fl(x x))) fl(1 / sqrt(2 pi)))
//   dx = fl(dy fl(P + fl(x p)))

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

// By tanh, (gelu.3) and (gelu.4), with k = fl(sqrt(2 / pi)) and a = fl(0.044715):
//   t  = tanh(fl(k fl(x + fl(a fl(x fl(x x))))))
//   y  = fl(fl(0.5 x) fl(1 + t))
//   u  = fl(k fl(1 + fl(fl(3 a) fl(x x))))
//   dx = fl(dy fl(fl(0.5 fl(1 + t)) + fl(fl(fl(0.5 x) fl(1 - fl(t t))) u)))

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
