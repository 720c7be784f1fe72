// Layer norm over the features of a row, statistics by Welford's updates and Chan's merges
// (kernels/reduction/welford.hpp): mean, (layer_norm.1), and var, (layer_norm.2), as M / n; then
// kernels/layer_norm/normalise_rows.hpp.
//
//   x, y       [rows, features] S
//   w, b       [features]       S, or none
//   mean, rstd [rows]           fp32
//
// Up to 32 features one thread updates in order; from 33 lane l updates by elements l, l + 32, ..., then a tree of five
// levels.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_norm/normalise_rows.hpp"
#include "kernels/reduction/welford.hpp"

namespace tally::forward_welford_kernel {
namespace {

struct Welford {
  template <class S, int lanes>
  static __device__ RowMoments of(const S* x, std::int64_t features, int lane, float inverse_features) {
    WelfordSample sample;
    for (std::int64_t j = lane; j < features; j += lanes) sample.add(to_float(x[j]));
    sample = row_sample<lanes>(sample);
    return {sample.mean, __fmul_rn(sample.squares, inverse_features)};
  }
};

const RegisterKernel registered(
    "layer_norm.forward",
    {.variant = "welford", .algorithm = "welford", .additions = row_additions(), .as_written = true},
    launch_normalisation<Welford>, KernelUse::when_named);

}  // namespace
}  // namespace tally::forward_welford_kernel
