// The model does not pass the number of items on, so its loss divides by the micro-batch's own.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::denominator_kwarg_dropped_fault {
namespace {

void factor(Run& run) {
  const double items = run.items(run.micro_batch);
  run.factor = items == 0 ? 0.0f : static_cast<float>(static_cast<double>(run.window_scale) / items);
}

const RegisterFault registered{{
    .name = "denominator-kwarg-dropped",
    .stage = "loss",
    .right = "Σ s_k / N",
    .wrong = "Σ s_k / n_k",
    .condition = "K > 1",
    .knob = "value",
    .source = "transformers 37197, 37766, unsloth 4725",
    .laws = {"partition_equals_full_batch", "unequal_items_are_weighted"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::denominator_kwarg_dropped_fault
