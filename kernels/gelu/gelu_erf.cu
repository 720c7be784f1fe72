// GELU with erf: y = x Phi(x), dx = dy (Phi(x) + x phi(x)), rounded as kernels/arithmetic.md says; store S.
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

constexpr float inverse_root_2 = 0x1.6a09e6p-1f;     // 1 / sqrt(2)
constexpr float inverse_root_2_pi = 0x1.988454p-2f;  // 1 / sqrt(2 pi)

/// 1 + erf(x / sqrt 2), twice the normal distribution function.
__device__ float twice_phi(float x) { return __fadd_rn(1.0f, det_erf(__fmul_rn(x, inverse_root_2))); }

__device__ float gelu(float x) { return __fmul_rn(__fmul_rn(0.5f, x), twice_phi(x)); }

__device__ float gelu_gradient(float x, float dy) {
  const float distribution = __fmul_rn(0.5f, twice_phi(x));
  const float density = __fmul_rn(det_exp(__fmul_rn(-0.5f, __fmul_rn(x, x))), inverse_root_2_pi);
  return __fmul_rn(dy, __fadd_rn(distribution, __fmul_rn(x, density)));
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

const RegisterKernel registered_forward("gelu_none.forward", {.variant = "grid_stride", .function_ulp = detmath_ulp},
                                        launch_forward);
const RegisterKernel registered_backward("gelu_none.backward", {.variant = "grid_stride", .function_ulp = detmath_ulp},
                                         launch_backward);

}  // namespace
}  // namespace tally
