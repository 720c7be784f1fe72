// The activations: two formulas each, y = f(x) and dx = f'(x) dy, and a record. Every y and dx is stored in S.
#include "kernels/activation/activation.hpp"
#include "kernels/activation/gelu.hpp"
#include "kernels/device/detmath.hpp"

// GELU with erf, (gelu.1) and (gelu.2), as gelu.hpp rounds it.
namespace tally::gelu_erf_kernel {
namespace {

const RegisterActivation<InFloat<GeluErf>> registered("gelu_none",
                                                      {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::gelu_erf_kernel

// GELU by tanh, (gelu.3) and (gelu.4), as gelu.hpp rounds it.
namespace tally::gelu_tanh_kernel {
namespace {

const RegisterActivation<InFloat<GeluTanh>> registered("gelu_tanh",
                                                       {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::gelu_tanh_kernel

// ReLU, (relu.1) and (relu.2), exact: the bits of x or dy, or 0. NaN passes.
//   y  = x > 0 ? x : 0
//   dx = x > 0 ? dy : 0
namespace tally::relu_kernel {
namespace {

struct Relu {
  template <class S>
  __device__ static S forward(S x) {
    return to_float(x) <= 0.0f ? from_float<S>(0.0f) : x;
  }
  template <class S>
  __device__ static S backward(S x, S dy) {
    return to_float(x) > 0.0f ? dy : from_float<S>(0.0f);
  }
};

const RegisterActivation<Relu> registered("relu", {.variant = "grid_stride"});

}  // namespace
}  // namespace tally::relu_kernel

// The logistic function, (sigmoid.1) and (sigmoid.2):
//   y  = s = fl(1 / fl(1 + exp(-x)))
//   dx = fl(dy fl(s fl(1 - s)))
namespace tally::sigmoid_kernel {
namespace {

struct Sigmoid {
  __device__ static float forward(float x) { return __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-x))); }
  __device__ static float backward(float x, float dy) {
    const float s = forward(x);
    return __fmul_rn(dy, __fmul_rn(s, __fsub_rn(1.0f, s)));
  }
};

const RegisterActivation<InFloat<Sigmoid>> registered("sigmoid",
                                                      {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::sigmoid_kernel

// SiLU, (silu.1) and (silu.2), s as for sigmoid:
//   y  = fl(x s)
//   dx = fl(dy fl(s fl(1 + fl(x fl(1 - s)))))
namespace tally::silu_kernel {
namespace {

struct Silu {
  __device__ static float logistic(float x) { return __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-x))); }
  __device__ static float forward(float x) { return __fmul_rn(x, logistic(x)); }
  __device__ static float backward(float x, float dy) {
    const float s = logistic(x);
    return __fmul_rn(dy, __fmul_rn(s, __fadd_rn(1.0f, __fmul_rn(x, __fsub_rn(1.0f, s)))));
  }
};

const RegisterActivation<InFloat<Silu>> registered("silu", {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::silu_kernel

// Hyperbolic tangent, (tanh.1) and (tanh.2):
//   y  = t = tanh(x)
//   dx = fl(dy fl(1 - fl(t t)))
namespace tally::tanh_kernel {
namespace {

struct Tanh {
  __device__ static float forward(float x) { return det_tanh(x); }
  __device__ static float backward(float x, float dy) {
    const float t = det_tanh(x);
    return __fmul_rn(dy, __fsub_rn(1.0f, __fmul_rn(t, t)));
  }
};

const RegisterActivation<InFloat<Tanh>> registered("tanh", {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::tanh_kernel
