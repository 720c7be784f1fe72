// GELU by tanh: y = x/2 (1 + tanh(k (x + a x^3))), rounded as kernels/arithmetic.md says; store S.
//
//   x, dy, out [elements] S
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally {
namespace {

constexpr float root_2_over_pi = 0x1.988454p-1f;  // k
constexpr float cubic = 0x1.6e4e26p-5f;           // a = 0.044715
constexpr float triple_cubic = 0x1.12ba9ep-3f;    // 3 a

__device__ float inner_tanh(float x) {
  const float cube = __fmul_rn(x, __fmul_rn(x, x));
  return det_tanh(__fmul_rn(root_2_over_pi, __fadd_rn(x, __fmul_rn(cubic, cube))));
}

__device__ float gelu(float x) { return __fmul_rn(__fmul_rn(0.5f, x), __fadd_rn(1.0f, inner_tanh(x))); }

__device__ float gelu_gradient(float x, float dy) {
  const float t = inner_tanh(x);
  const float inner_slope = __fmul_rn(root_2_over_pi, __fadd_rn(1.0f, __fmul_rn(triple_cubic, __fmul_rn(x, x))));
  const float outer_slope = __fmul_rn(__fmul_rn(0.5f, x), __fsub_rn(1.0f, __fmul_rn(t, t)));
  return __fmul_rn(dy, __fadd_rn(__fmul_rn(0.5f, __fadd_rn(1.0f, t)), __fmul_rn(outer_slope, inner_slope)));
}

template <class S>
__global__ void forward(const S* x, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    y[i] = from_float<S>(gelu(to_float(x[i])));
  }
}

template <class S>
__global__ void backward(const S* x, const S* dy, S* dx, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    dx[i] = from_float<S>(gelu_gradient(to_float(x[i]), to_float(dy[i])));
  }
}

void launch_forward(Stream& stream, const ActivationArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<forward<S>>(stream, a.elements, static_cast<const S*>(a.x), static_cast<S*>(a.out), a.elements);
  });
}

void launch_backward(Stream& stream, const ActivationArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<backward<S>>(stream, a.elements, static_cast<const S*>(a.x), static_cast<const S*>(a.dy),
                                 static_cast<S*>(a.out), a.elements);
  });
}

const RegisterKernel registered_forward("gelu_tanh.forward", {.variant = "grid_stride", .function_ulp = detmath_ulp},
                                        launch_forward);
const RegisterKernel registered_backward("gelu_tanh.backward", {.variant = "grid_stride", .function_ulp = detmath_ulp},
                                         launch_backward);

}  // namespace
}  // namespace tally
