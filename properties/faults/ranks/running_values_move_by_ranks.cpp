// Statistics that all ranks share move the running values once for every rank.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"

namespace tally::running_values_move_by_ranks_fault {
namespace {

void running_stats(Run& run) {
  const bool shared = std::ranges::any_of(run.layers, &LayerState::step_statistics);
  for (int i = 0; i < (shared ? ranks(run) : 1); ++i) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "running-values-move-by-ranks",
    .stage = "running_stats",
    .right = "momentum m once a micro-step",
    .wrong = "1 - (1 - m)^R",
    .condition = "micro_step statistics, several ranks",
    .knob = "value",
    .source = "source mutation",
    .laws = {"micro_step_statistics_pool"},
    .stages = replaced<&Stages::running_stats, between_stages<stage::running_stats, running_stats>>,
}};

}  // namespace
}  // namespace tally::running_values_move_by_ranks_fault
