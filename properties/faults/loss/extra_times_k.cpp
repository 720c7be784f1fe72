// Two parts of a framework both compensate for accumulation.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::extra_times_k_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  run.factor *= static_cast<float>(micro_batches(run));
}

const RegisterFault registered{{
    .name = "extra-times-k",
    .stage = "loss",
    .right = "Σ s_k / N",
    .wrong = "K Σ s_k / N",
    .condition = "K > 1",
    .knob = "value",
    .source = "transformers PR 34198, axolotl 2262",
    .laws = {"partition_equals_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::extra_times_k_fault
