// Layer norm over the features of a row, statistics in one pass: mean, (layer_norm.1), and var, (layer_norm.2), as
// max(0, E[x x] - mean mean), rounded as kernels/arithmetic.md says; then kernels/layer_norm/normalise_rows.hpp.
//
//   x, y       [rows, features] S
//   w, b       [features]       S, or none
//   mean, rstd [rows]           fp32
//
// Up to 32 features elements are added in order; from 33 as kernels/reduction/row_sum.hpp.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_norm/normalise_rows.hpp"

namespace tally::forward_one_pass_kernel {
namespace {

struct OnePass {
  template <class S, int lanes>
  static __device__ RowMoments of(const S* x, std::int64_t features, int lane, float inverse_features) {
    float sum = 0.0f, squares = 0.0f;
    for (std::int64_t j = lane; j < features; j += lanes) {
      const float value = to_float(x[j]);
      sum = __fadd_rn(sum, value);
      squares = __fadd_rn(squares, __fmul_rn(value, value));
    }
    const float mean = __fmul_rn(row_total<lanes>(sum), inverse_features);
    const float square = __fmul_rn(row_total<lanes>(squares), inverse_features);
    const float difference = __fsub_rn(square, __fmul_rn(mean, mean));
    return {mean, difference < 0.0f ? 0.0f : difference};
  }
};

const RegisterKernel registered(
    "layer_norm.forward",
    {.variant = "one_pass", .algorithm = "one_pass", .additions = row_additions(), .as_written = true},
    launch_normalisation<OnePass>, KernelUse::when_named);

}  // namespace
}  // namespace tally::forward_one_pass_kernel
