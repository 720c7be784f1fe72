// Every micro-batch divides by its own items, and the window by K: right only for equal sizes.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::mean_of_means_fault {
namespace {

void factor(Run& run) {
  const double items = run.items(run.micro_batch);
  run.factor = items == 0 ? 0.0f : static_cast<float>(run.window_scale / (micro_batches(run) * items));
}

const RegisterFault registered{{
    .name = "mean-of-means",
    .stage = "loss",
    .right = "Σ s_k / N",
    .wrong = "(1/K) Σ s_k / n_k",
    .condition = "unequal n_k",
    .knob = "value",
    .source = "transformers PR 34191, torchtune PR 1875",
    .laws = {"unequal_items_are_weighted", "partition_equals_full_batch", "layer_norm_leaves_no_gap"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::mean_of_means_fault
