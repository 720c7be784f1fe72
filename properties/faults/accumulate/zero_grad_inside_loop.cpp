// The buffer is cleared before every micro-batch.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::zero_grad_inside_loop_fault {
namespace {

void accumulate(Run& run) {
  for (Parameter& parameter : run.parameters) fade(run, parameter.buffer);
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "zero-grad-inside-loop",
    .stage = "accumulate",
    .right = "clear once a window",
    .wrong = "clear at every micro-batch",
    .condition = "K > 1",
    .knob = "value",
    .source = "torchtitan PR 3575, mmf PR 747",
    .laws = {"permuted_micro_batches", "partition_equals_full_batch", "optimizer_state_ignores_k"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::zero_grad_inside_loop_fault
