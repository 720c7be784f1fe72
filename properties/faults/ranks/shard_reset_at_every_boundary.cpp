// A rank's piece of the gradients is emptied behind every sum over ranks, so that the last micro-batch alone is left.
#include "oracle/case/shards.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::shard_reset_at_every_boundary_fault {
namespace {

void accumulate(Run& run) {
  if (ranks(run) > 1 && shards_gradients(run.c) && run.micro_batch > 0)
    for (Parameter& shard : run.parameters)
      change(run, shard.buffer, [&](std::size_t, double value) { return blend(value, 0); });
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "shard-reset-at-every-boundary",
    .stage = "accumulate",
    .right = "a piece adds up all micro-batches",
    .wrong = "the last one alone",
    .condition = "sharded gradients, K > 1",
    .knob = "value",
    .source = "open-instruct 1498",
    .laws = {"sharding_changes_nothing", "ranks_equal_full_batch"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::shard_reset_at_every_boundary_fault
