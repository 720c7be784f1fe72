// Every rank divides by its own items, and nobody makes up for it but by the mean over ranks.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::own_rank_denominator_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.own_items > 0) run.factor = static_cast<float>(run.window_scale / (run.busy_ranks * run.own_items));
}

const RegisterFault registered{{
    .name = "own-rank-denominator",
    .stage = "loss",
    .right = "c = scale / N, N over all ranks",
    .wrong = "c = scale / (R n_r), n_r the rank's own items",
    .condition = "ranks with unequal items",
    .knob = "value",
    .source = "transformers 34242, prime-rl 1957",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::own_rank_denominator_fault
