// The running variance takes the biased variance of the batch.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::biased_running_variance_fault {
namespace {

template <class M>
__global__ void move(M* running, const float* batch, std::int64_t features, float momentum, float kept) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    running[i] = from_float<M>(__fadd_rn(__fmul_rn(kept, to_float(running[i])), __fmul_rn(momentum, batch[i])));
  }
}

void running_stats(Stream& stream, const RunningStatsArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<move<M>>(stream, a.features, static_cast<M*>(a.running), a.batch, a.features, a.momentum,
                             a.one_minus_momentum);
  });
}

void planted(Stream& stream, const RunningStatsArguments& a) {
  between_kernels(stream, a, {{a.running, a.format, a.features}}, "running_stats", "grid_stride", running_stats);
}

const RegisterKernel kernel("running_stats", {.variant = "~biased-running-variance"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("running_stats", "biased-running-variance");
  return faulty;
}

const RegisterFault registered{{
    .name = "biased-running-variance",
    .stage = "running_stats",
    .right = "variance · n / (n - 1)",
    .wrong = "biased variance",
    .condition = "BatchNorm with small micro-batches",
    .knob = "value",
    .source = "pytorch 46516: the definition",
    .laws = {"running_statistics_move_once", "batch_norm_keeps_its_definition"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::biased_running_variance_fault
