// The running statistics weigh old and new the wrong way round.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bn_momentum_swapped_fault {
namespace {

template <class M>
__global__ void move(M* running, const float* batch, std::int64_t features, float momentum, float kept,
                     float correction) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    const float moved = __fmul_rn(kept, __fmul_rn(batch[i], correction));
    running[i] = from_float<M>(__fadd_rn(__fmul_rn(momentum, to_float(running[i])), moved));
  }
}

void running_stats(Stream& stream, const RunningStatsArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<move<M>>(stream, a.features, static_cast<M*>(a.running), a.batch, a.features, a.momentum,
                             a.one_minus_momentum, a.correction);
  });
}

void planted(Stream& stream, const RunningStatsArguments& a) {
  between_kernels(stream, a, {{a.running, a.format, a.features}}, "running_stats", "grid_stride", running_stats);
}

const RegisterKernel kernel("running_stats", {.variant = "~bn-momentum-swapped"}, planted);

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
    .knob = "value",
    .source = "GradientAccumulator 47: momentum read the other way round",
    .laws = {"running_statistics_move_once"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::bn_momentum_swapped_fault
