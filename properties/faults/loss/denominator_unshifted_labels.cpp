// The first position of every row is counted, though it is never predicted: one item too many a row.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::denominator_unshifted_labels_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  std::int64_t rows = 0;
  for (int k = 0; k < micro_batches(run); ++k) rows += run.rows(k);
  const double over = run.window_items + static_cast<double>(rows);
  run.factor *= static_cast<float>(run.window_items / over);
}

const RegisterFault registered{{
    .name = "denominator-unshifted-labels",
    .stage = "loss",
    .right = "Σ s_k / N",
    .wrong = "Σ s_k / (N + rows)",
    .condition = "every batch; 1 / T of the gradient",
    .knob = "value",
    .source = "transformers PR 46204",
    .laws = {"partition_equals_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::denominator_unshifted_labels_fault
