// Mean, (batch_norm.1), var, (batch_norm.2), and rstd, (batch_norm.3), of a micro-step by sums over all ranks, rounded
// as kernels/arithmetic.md says; fp32.
//
//   sum, squares, mean, var, rstd [features] fp32, or none
//
// One thread a feature, grid-stride. No sums.
#include "kernels/batch_norm/step_arguments.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"

namespace tally::pool_sums_kernel {
namespace {

__global__ void by_sums(const float* sum, const float* squares, float* mean, float* var, float* rstd,
                        std::int64_t features, float inverse_rows, float eps, bool of_deviations) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    if (sum != nullptr) mean[i] = __fmul_rn(sum[i], inverse_rows);
    if (squares == nullptr) continue;
    const float square = __fmul_rn(squares[i], inverse_rows);
    float variance = square;
    if (!of_deviations) {
      const float difference = __fsub_rn(square, __fmul_rn(mean[i], mean[i]));
      variance = difference < 0.0f ? 0.0f : difference;
    }
    var[i] = variance;
    rstd[i] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
  }
}

void pool_sums(Stream& stream, const PoolSumsArguments& a) {
  launch_elements<by_sums>(stream, a.features, a.sum, a.squares, a.mean, a.var, a.rstd, a.features, a.inverse_rows,
                           a.eps, a.of_deviations);
}

const RegisterKernel registered("batch_norm.pool_sums", {.variant = "grid_stride", .as_written = true}, pool_sums,
                                KernelUse::when_named);

}  // namespace
}  // namespace tally::pool_sums_kernel
