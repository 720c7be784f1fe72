// The running statistics weigh old and new the wrong way round.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

__global__ void move(float* running, const float* batch, std::int64_t features, float momentum, float kept,
                     float correction) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    running[i] = __fadd_rn(__fmul_rn(momentum, running[i]), __fmul_rn(kept, __fmul_rn(batch[i], correction)));
  }
}

void running_stats(Stream& stream, const RunningStatsArguments& a) {
  launch_elements<move>(stream, a.features, a.running, a.batch, a.features, a.momentum, a.one_minus_momentum,
                        a.correction);
}

const RegisterKernel kernel("running_stats", {.variant = "~bn-momentum-swapped"}, running_stats);

const Stages& stages() {
  static const Stages faulty = with_kernel("running_stats", "bn-momentum-swapped");
  return faulty;
}

const RegisterFault registered{{
    .name = "bn-momentum-swapped",
    .stage = "running_stats",
    .right = "(1 - m) r + m v",
    .wrong = "m r + (1 - m) v",
    .condition = "BatchNorm",
    .source = "GradientAccumulator 47: momentum read the other way round",
    .laws = {"running_statistics_move_once"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally
