// Forward shares its statistics, backward takes the sums of its own rows for those of all.
#include "properties/faults/ranks/planted_on_steps.hpp"

namespace tally::synchronised_backward_stays_local_fault {
namespace {

void sync_statistics(Run& run, LayerState& layer, StepPart part) {
  const Tensor first = layer.own_first.read(), second = layer.own_second.read();
  stage::sync_statistics(run, layer, part);
  if (part != StepPart::gradients) return;
  leave(run, layer, layer.db_sum, "sum_dy", [&](std::size_t i) { return second.value(i); });
  leave(run, layer, layer.dw_sum, "sum_dy_h", [&](std::size_t i) { return first.value(i); });
}

const RegisterFault registered{{
    .name = "synchronised-backward-stays-local",
    .stage = "sync_statistics",
    .right = "Σ dy and Σ dy h over the rows of all ranks",
    .wrong = "over each rank's own",
    .condition = "micro_step statistics that pass a gradient on, rows on several ranks",
    .knob = "value",
    .source = "source mutation",
    .laws = {"shared_statistics_keep_their_bound", "micro_step_statistics_pool"},
    .stages = with_sync<sync_statistics>,
}};

}  // namespace
}  // namespace tally::synchronised_backward_stays_local_fault
