// Running statistics move again when activations are recomputed.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bn_double_update_recompute_fault {
namespace {

void running_stats(Run& run) {
  stage::running_stats(run);
  if (run.c.execution.recompute) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "bn-double-update-recompute",
    .stage = "running_stats",
    .right = "one update a micro-batch",
    .wrong = "two, when the forward pass is run again",
    .condition = "activation checkpointing",
    .knob = "value",
    .source = "pytorch 96136, insightface 2053",
    .laws = {"running_statistics_move_once", "recomputation_changes_nothing"},
    .stages = replaced<&Stages::running_stats, between_stages<stage::running_stats, running_stats>>,
}};

}  // namespace
}  // namespace tally::bn_double_update_recompute_fault
