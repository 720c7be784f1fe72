// tanh: y = tanh(x); backward from x: t = tanh(x), dx = fl(dy * fl(1 - fl(t t))); store S.
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

__device__ float tanh_gradient(float x, float dy) {
  const float t = det_tanh(x);
  return __fmul_rn(dy, __fsub_rn(1.0f, __fmul_rn(t, t)));
}

template <class S>
__global__ void forward(const S* x, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    y[i] = from_float<S>(det_tanh(to_float(x[i])));
  }
}

template <class S>
__global__ void backward(const S* x, const S* dy, S* dx, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    dx[i] = from_float<S>(tanh_gradient(to_float(x[i]), to_float(dy[i])));
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

const RegisterKernel registered_forward("tanh.forward", {.variant = "grid_stride", .function_ulp = detmath_ulp},
                                        launch_forward);
const RegisterKernel registered_backward("tanh.backward", {.variant = "grid_stride", .function_ulp = detmath_ulp},
                                         launch_backward);

}  // namespace
}  // namespace tally
