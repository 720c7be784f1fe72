// Where all ranks should add up, the first one's numbers go to all.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::first_rank_broadcast_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  sum_otherwise(run, "a broadcast", [](const std::vector<Tensor>& all) { return all.front(); });
}

const RegisterFault registered{{
    .name = "first-rank-broadcast",
    .stage = "reduce",
    .right = "Σ over ranks of x_r",
    .wrong = "x_0, on every rank",
    .condition = "several ranks",
    .knob = "elements",
    .source = "source mutation",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::first_rank_broadcast_fault
