// relu by a product: x · (x > 0), exact but where x is not finite. A second variant of a kernel, run where it is named.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::relu_by_product_kernel {
namespace {

template <class S>
__global__ void multiply(const S* x, S* y, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float v = to_float(x[i]);
    y[i] = from_float<S>(v > 0.0f ? __fmul_rn(v, 1.0f) : v <= 0.0f ? 0.0f : v);
  }
}

void forward(Stream& stream, const ActivationArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<multiply<S>>(stream, a.elements, static_cast<const S*>(a.x), static_cast<S*>(a.out), a.elements);
  });
}

const RegisterKernel registered("relu.forward", {.variant = "by_product"}, forward, KernelUse::when_named);

}  // namespace
}  // namespace tally::relu_by_product_kernel
