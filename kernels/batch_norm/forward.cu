// Batch norm by given statistics: (x - mean) rstd w + b from left to right, (batch_norm.4), each operation rounded,
// without the last two when the layer is not affine; store S.
//
//   x, y       [rows, features] S
//   mean, rstd [features]       fp32
//   w, b       [features]       S, or none
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::forward_kernel {
namespace {

template <class S>
__global__ void normalise(const S* x, const float* mean, const float* rstd, const S* weight, const S* bias, S* y,
                          std::int64_t elements, std::int64_t features) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const std::int64_t column = i % features;
    float value = __fmul_rn(__fsub_rn(to_float(x[i]), mean[column]), rstd[column]);
    if (weight != nullptr) value = __fadd_rn(__fmul_rn(value, to_float(weight[column])), to_float(bias[column]));
    y[i] = from_float<S>(value);
  }
}

void forward(Stream& stream, const NormForwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    const std::int64_t elements = a.rows * a.features;
    launch_elements<normalise<S>>(stream, elements, static_cast<const S*>(a.x), a.mean, a.rstd,
                                  static_cast<const S*>(a.weight), static_cast<const S*>(a.bias), static_cast<S*>(a.y),
                                  elements, a.features);
  });
}

const RegisterKernel registered("batch_norm.forward", {.variant = "grid_stride", .as_written = true}, forward);

}  // namespace
}  // namespace tally::forward_kernel
