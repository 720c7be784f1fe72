// sigmoid: s = fl(1 / fl(1 + exp(-x))); backward from x: dx = fl(dy * fl(s * fl(1 - s))); store S.
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

__device__ float logistic(float x) { return __fdiv_rn(1.0f, __fadd_rn(1.0f, det_exp(-x))); }

__device__ float logistic_gradient(float x, float dy) {
  const float s = logistic(x);
  return __fmul_rn(dy, __fmul_rn(s, __fsub_rn(1.0f, s)));
}

template <class S>
__global__ void forward(const S* x, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    y[i] = from_float<S>(logistic(to_float(x[i])));
  }
}

template <class S>
__global__ void backward(const S* x, const S* dy, S* dx, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    dx[i] = from_float<S>(logistic_gradient(to_float(x[i]), to_float(dy[i])));
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

const RegisterKernel registered_forward("sigmoid.forward", {.variant = "grid_stride", .function_ulp = detmath_ulp},
                                        launch_forward);
const RegisterKernel registered_backward("sigmoid.backward", {.variant = "grid_stride", .function_ulp = detmath_ulp},
                                         launch_backward);

}  // namespace
}  // namespace tally
