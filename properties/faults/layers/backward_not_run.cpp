// The stage is left out there, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::backward_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.group_begin > 0;
  if (!left_out) stage::backward(run);
}

const RegisterFault registered{{
    .name = "backward-not-run",
    .stage = "backward",
    .right = "s_k",
    .wrong = "the last micro-batch's, no tap",
    .condition = "K > 1",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"exact_lane", "partition_equals_full_batch"},
    .stages = replaced<&Stages::backward, sometimes>,
}};

}  // namespace
}  // namespace tally::backward_not_run_fault
