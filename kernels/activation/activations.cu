// The activations: two formulas each, y = f(x) and dx = f'(x) dy, and a record.
#include "kernels/activation/activation.hpp"
#include "kernels/activation/gelu.hpp"
#include "kernels/device/detmath.hpp"

// GELU with erf: y = x Phi(x), (gelu.1), and dx, (gelu.2), from x, rounded as kernels/arithmetic.md says; store S.
namespace tally::gelu_erf_kernel {
namespace {

const RegisterActivation<InFloat<GeluErf>> registered("gelu_none",
                                                      {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::gelu_erf_kernel

// GELU by tanh: y = x/2 (1 + tanh(k (x + a x^3))), (gelu.3), and dx, (gelu.4), from x, rounded as kernels/arithmetic.md
// says; store S.
namespace tally::gelu_tanh_kernel {
namespace {

const RegisterActivation<InFloat<GeluTanh>> registered("gelu_tanh",
                                                       {.variant = "grid_stride", .function_ulp = detmath_ulp});

}  // namespace
}  // namespace tally::gelu_tanh_kernel

// ReLU: x > 0 ? x : 0, (relu.1), NaN passed on, and x > 0 ? dy : 0, (relu.2). Exact: a bit of S is passed on or is 0.
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

// y = 1 / (1 + exp(-x)), (sigmoid.1), and dx, (sigmoid.2), from x, rounded as kernels/arithmetic.md says; store S.
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

// y = x s(x) with s(x) = 1 / (1 + exp(-x)), (silu.1), and dx, (silu.2), from x, rounded as kernels/arithmetic.md says;
// store S.
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

// y = tanh(x), (tanh.1), and dx, (tanh.2), from x, rounded as kernels/arithmetic.md says; store S.
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
