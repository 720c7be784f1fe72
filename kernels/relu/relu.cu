// ReLU: y = x > 0 ? x : 0, NaN passed on; dx = x > 0 ? dy : 0. Exact.
//
//   x, dy, out [elements] S
//
// One thread an element, grid-stride. No rounding: the claim is bit equality.
#include "kernels/device/launch.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/registration.hpp"

namespace tally {
namespace {

template <class S>
__global__ void forward(const S* x, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float value = load(x[i]);
    y[i] = value <= 0.0f ? store<S>(0.0f) : x[i];
  }
}

template <class S>
__global__ void backward(const S* x, const S* dy, S* dx, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    dx[i] = load(x[i]) > 0.0f ? dy[i] : store<S>(0.0f);
  }
}

void launch_forward(Stream& stream, const ActivationArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements(stream, a.elements, forward<S>, static_cast<const S*>(a.x), static_cast<S*>(a.out), a.elements);
  });
}

void launch_backward(Stream& stream, const ActivationArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements(stream, a.elements, backward<S>, static_cast<const S*>(a.x), static_cast<const S*>(a.dy),
                    static_cast<S*>(a.out), a.elements);
  });
}

const RegisterKernel registered_forward("relu.forward", {.variant = "grid_stride"}, launch_forward);
const RegisterKernel registered_backward("relu.backward", {.variant = "grid_stride"}, launch_backward);

}  // namespace
}  // namespace tally
