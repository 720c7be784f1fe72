// Groups that keep the same pieces divide their sum by all ranks, though each group has divided by its own already.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::factor_at_both_levels_fault {
namespace {

void reduce(Run& run) {
  stage::reduce(run);
  if (!run.replicas || run.micro_batch >= 0) return;
  const double by = 1.0 / run.sharers->size();
  if (!rank_division(run.c, static_cast<std::size_t>(run.replicas->size())).around_the_sum) return;
  for (const Parameter& piece : run.parameters)
    change(run, piece.buffer, [&](std::size_t, double value) { return blend(value, value * by); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "factor-at-both-levels",
    .stage = "reduce",
    .right = "every sum is divided by as many as it adds",
    .wrong = "that of the groups by all ranks",
    .condition = "several groups of several ranks, a division around the sum",
    .knob = "value",
    .source = "pytorch PR 155903",
    .laws = {"replicas_change_nothing"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::factor_at_both_levels_fault
