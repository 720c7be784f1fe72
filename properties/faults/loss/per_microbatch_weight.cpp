// The window's one weight depends on the items of the micro-batch that is computed.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::per_microbatch_weight_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.window_items == 0) return;
  run.factor *= static_cast<float>(run.items(run.micro_batch) * micro_batches(run) / run.window_items);
}

const RegisterFault registered{{
    .name = "per-microbatch-weight",
    .stage = "loss",
    .right = "Σ s_k / N",
    .wrong = "Σ s_k (n_k K / N) / N",
    .condition = "unequal n_k",
    .knob = "value",
    .source = "open_clip PR 1212",
    .laws = {"unequal_items_are_weighted", "partition_equals_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::per_microbatch_weight_fault
