// Layer norm over the features of a row, statistics in two passes: mean, (layer_norm.1), then var, (layer_norm.2), from
// that rounded mean, rounded as kernels/arithmetic.md says; then kernels/layer_norm/normalise_rows.hpp.
//
//   x, y       [rows, features] S
//   w, b       [features]       S, or none
//   mean, rstd [rows]           fp32
//
// Up to 32 features elements are added in order; from 33 as kernels/reduction/row_sum.hpp.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_norm/normalise_rows.hpp"

namespace tally::forward_kernel {
namespace {

struct TwoPass {
  template <class S, int lanes>
  static __device__ RowMoments of(const S* x, std::int64_t features, int lane, float inverse_features) {
    float sum = 0.0f;
    for (std::int64_t j = lane; j < features; j += lanes) sum = __fadd_rn(sum, to_float(x[j]));
    const float mean = __fmul_rn(row_total<lanes>(sum), inverse_features);
    sum = 0.0f;
    for (std::int64_t j = lane; j < features; j += lanes) {
      const float d = __fsub_rn(to_float(x[j]), mean);
      sum = __fadd_rn(sum, __fmul_rn(d, d));
    }
    return {mean, __fmul_rn(row_total<lanes>(sum), inverse_features)};
  }
};

const RegisterKernel registered(
    "layer_norm.forward",
    {.variant = "two_pass", .algorithm = "two_pass", .additions = row_additions(), .as_written = true},
    launch_normalisation<TwoPass>);

}  // namespace
}  // namespace tally::forward_kernel
