// A sum that is declared to be made in fp32 is rounded to the wire's 16 bits behind every addition.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::sum_rounded_at_every_rank_fault {
namespace {

Tensor rounded_each(const std::vector<Tensor>& all) {
  Tensor sum = all.front();
  for (std::size_t rank = 1; rank < all.size(); ++rank) add_on_wire(sum, all[rank]);
  return sum;
}

void reduce(Run& run) {
  if (communicates_each(run.c) || !adds_in_fp32(run.c) || ranks(run) < 3) return stage::reduce(run);
  sum_otherwise(run, "rounded at every rank", rounded_each);
}

const RegisterFault registered{{
    .name = "sum-rounded-at-every-rank",
    .stage = "reduce",
    .right = "additions are made in fp32, and their sum is rounded",
    .wrong = "every addition is",
    .condition = "three ranks or more, additions declared in fp32",
    .knob = "elements",
    .source = "source mutation",
    .laws = {"every_wire_keeps_its_bound"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::sum_rounded_at_every_rank_fault
