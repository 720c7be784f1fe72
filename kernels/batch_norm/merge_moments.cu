// Mean, (batch_norm.1), var, (batch_norm.2), and rstd, (batch_norm.3), of a micro-step by those of every rank, merged in
// the order of the ranks as PyTorch's batch_norm_gather_stats_with_counts does, rounded as kernels/arithmetic.md says;
// fp32. A rank without rows is passed over.
//
//   means, vars     [ranks, features] fp32
//   counts          [ranks]           i64
//   mean, var, rstd [features]        fp32
//
// One thread a feature, grid-stride, rank after rank.
#include "kernels/batch_norm/step_arguments.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"

namespace tally::merge_moments_kernel {
namespace {

__global__ void by_moments(const float* means, const float* vars, const std::int64_t* counts, float* mean, float* var,
                           float* rstd, std::int64_t ranks, std::int64_t features, float eps) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    float average = 0.0f, squares = 0.0f;
    std::int64_t taken = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      if (counts[rank] == 0) continue;
      const float n = static_cast<float>(taken), c = static_cast<float>(counts[rank]);
      taken += counts[rank];
      const float f = __fdiv_rn(1.0f, static_cast<float>(taken));
      const float own = means[rank * features + i];
      const float d = __fsub_rn(average, own);
      const float between = __fmul_rn(__fmul_rn(__fmul_rn(__fmul_rn(d, d), n), c), f);
      squares = __fadd_rn(squares, __fadd_rn(__fmul_rn(vars[rank * features + i], c), between));
      average = __fadd_rn(__fmul_rn(__fmul_rn(n, f), average), __fmul_rn(__fmul_rn(c, f), own));
    }
    const float variance = __fdiv_rn(squares, static_cast<float>(taken));
    mean[i] = average;
    var[i] = variance;
    rstd[i] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
  }
}

void merge_moments(Stream& stream, const MergeMomentsArguments& a) {
  launch_elements<by_moments>(stream, a.features, a.means, a.vars, a.counts, a.mean, a.var, a.rstd, a.ranks, a.features,
                              a.eps);
}

const RegisterKernel registered("batch_norm.merge_moments", {.variant = "in_order", .as_written = true}, merge_moments,
                                KernelUse::when_named);

}  // namespace
}  // namespace tally::merge_moments_kernel
