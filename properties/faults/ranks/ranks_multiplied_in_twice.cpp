// The loss is multiplied by the ranks for a mean over them that is a sum already.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::ranks_multiplied_in_twice_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  run.factor *= static_cast<float>(ranks(run));
}

const RegisterFault registered{{
    .name = "ranks-multiplied-in-twice",
    .stage = "loss",
    .right = "c = scale / N, summed over ranks",
    .wrong = "c = R scale / N, summed over ranks",
    .condition = "several ranks",
    .knob = "value",
    .source = "sparseml PR 135",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::ranks_multiplied_in_twice_fault
