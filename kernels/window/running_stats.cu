// Running statistics: r = fl(fl(fl(1 - m) * r) + fl(m * v)), v = fl(batch * correction); correction n / (n - 1) for the
// variance, 1 for the mean.
//
//   running, batch [features] fp32, running in place
//
// One thread a feature, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
namespace {

__global__ void move(float* running, const float* batch, std::int64_t features, float momentum,
                     float one_minus_momentum, float correction) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    const float value = __fmul_rn(batch[i], correction);
    running[i] = __fadd_rn(__fmul_rn(one_minus_momentum, running[i]), __fmul_rn(momentum, value));
  }
}

void running_stats(Stream& stream, const RunningStatsArguments& a) {
  launch_elements<move>(stream, a.features, a.running, a.batch, a.features, a.momentum, a.one_minus_momentum,
                        a.correction);
}

const RegisterKernel registered("running_stats", {.variant = "grid_stride"}, running_stats);

}  // namespace
}  // namespace tally
