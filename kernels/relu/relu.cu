// ReLU: y = x > 0 ? x : 0, NaN passed on; dx = x > 0 ? dy : 0. Exact.
//
//   x, dy, out [elements] S
//
// One thread an element, grid-stride. No rounding: the claim is bit equality.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally {
namespace {

template <class S>
__global__ void forward(const S* x, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float value = to_float(x[i]);
    y[i] = value <= 0.0f ? from_float<S>(0.0f) : x[i];
  }
}

template <class S>
__global__ void backward(const S* x, const S* dy, S* dx, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    dx[i] = to_float(x[i]) > 0.0f ? dy[i] : from_float<S>(0.0f);
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

const RegisterKernel registered_forward("relu.forward", {.variant = "grid_stride"}, launch_forward);
const RegisterKernel registered_backward("relu.backward", {.variant = "grid_stride"}, launch_backward);

}  // namespace
}  // namespace tally
