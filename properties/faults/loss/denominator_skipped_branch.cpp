// The branch with label smoothing divides by the micro-batch's items.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::denominator_skipped_branch_fault {
namespace {

bool smooths(const Choice& loss) {
  return loss.kind == "cross_entropy" && loss.number("label_smoothing").to_double() != 0;
}

void factor(Run& run) {
  stage::fix_factor(run);
  const double items = run.items(run.micro_batch);
  if (!smooths(run.c.model.loss) || items == 0) return;
  run.factor = static_cast<float>(static_cast<double>(run.window_scale) / items);
}

const RegisterFault registered{{
    .name = "denominator-skipped-branch",
    .stage = "loss",
    .right = "Σ s_k / N",
    .wrong = "Σ s_k / n_k",
    .condition = "label smoothing, K > 1",
    .knob = "value",
    .source = "transformers 46731, PR 47261",
    .laws = {"partition_equals_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::denominator_skipped_branch_fault
