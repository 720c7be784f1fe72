// Running statistics: r = (1 - m) r + m v with v = batch correction, rounded as kernels/arithmetic.md says; with the
// correction n / (n - 1) (running_statistics.2), and with 1, which changes nothing, (running_statistics.1).
//
//   running [features] M, in place   batch [features] fp32
//
// One thread a feature, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::running_stats_kernel {
namespace {

template <class M>
__global__ void move(M* running, const float* batch, std::int64_t features, float momentum, float one_minus_momentum,
                     float correction) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    const float value = __fmul_rn(batch[i], correction);
    const float kept = __fmul_rn(one_minus_momentum, to_float(running[i]));
    running[i] = from_float<M>(__fadd_rn(kept, __fmul_rn(momentum, value)));
  }
}

void running_stats(Stream& stream, const RunningStatsArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<move<M>>(stream, a.features, static_cast<M*>(a.running), a.batch, a.features, a.momentum,
                             a.one_minus_momentum, a.correction);
  });
}

const RegisterKernel registered("running_stats", {.variant = "grid_stride", .as_written = true}, running_stats);

}  // namespace
}  // namespace tally::running_stats_kernel
