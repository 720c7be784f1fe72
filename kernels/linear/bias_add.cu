// z += bias, the second half of a linear layer's forward, (linear.1): fl(z + b), store S.
//
//   z    [rows, features] S   in place
//   bias [features]       S
//
// One thread an element, grid-stride. No sums: the claim is one rounding in fp32 and one into S.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::bias_add_kernel {
namespace {

template <class S>
__global__ void add_bias(S* z, const S* bias, std::int64_t elements, std::int64_t features) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    z[i] = from_float<S>(__fadd_rn(to_float(z[i]), to_float(bias[i % features])));
  }
}

void bias_add(Stream& stream, const BiasAddArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    const std::int64_t elements = a.rows * a.features;
    launch_elements<add_bias<S>>(stream, elements, static_cast<S*>(a.z), static_cast<const S*>(a.bias), elements,
                                 a.features);
  });
}

const RegisterKernel registered("linear.bias_add", {.variant = "grid_stride"}, bias_add);

}  // namespace
}  // namespace tally::bias_add_kernel
