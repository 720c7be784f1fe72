// Every rank puts the statistics of a micro-step together as if all had as many rows as it has itself.
#include "properties/faults/ranks/planted_on_steps.hpp"

namespace tally::own_count_for_all_fault {
namespace {

void sync_statistics(Run& run, LayerState& layer, StepPart part) {
  const Tensor first = layer.own_first.read(), second = layer.own_second.read();
  stage::sync_statistics(run, layer, part);
  if (part == StepPart::gradients) return;
  const StepOnRanks step(run, layer, first, second);
  const double own = step.own_rows() > 0 ? step.own_rows() : 1;
  step.write([&](double) { return own; }, part);
}

const RegisterFault registered{{
    .name = "own-count-for-all",
    .stage = "sync_statistics",
    .right = "Σ n_r μ_r / Σ n_r",
    .wrong = "each rank's own n for every n_r",
    .condition = "micro_step statistics, unequal rows of a micro-step on several ranks",
    .knob = "value",
    .source = "pytorch 22192, Paddle 32464",
    .laws = {"micro_step_statistics_pool", "shared_statistics_keep_their_bound"},
    .stages = with_sync<sync_statistics>,
}};

}  // namespace
}  // namespace tally::own_count_for_all_fault
