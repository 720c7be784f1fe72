// The window's divisor counts one micro-batch too few: at K = 64 all gradients are 1.6 % too large.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::divided_by_k_minus_1_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  const auto k = static_cast<float>(micro_batches(run));
  if (k > 1) run.factor *= k / (k - 1);
}

const RegisterFault registered{{
    .name = "divided-by-k-minus-1",
    .stage = "loss",
    .right = "Σ s_k / K",
    .wrong = "Σ s_k / (K − 1)",
    .condition = "K > 1",
    .knob = "value",
    .source = "Lightning 19987, transformers 37777",
    .laws = {"many_micro_batches_stay_bounded", "partition_equals_full_batch", "equal_sizes_make_means_agree"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::divided_by_k_minus_1_fault
