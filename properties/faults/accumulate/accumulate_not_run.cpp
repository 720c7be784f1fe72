// The stage is left out there, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::accumulate_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.micro_batch > 0;
  if (!left_out) stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "accumulate-not-run",
    .stage = "accumulate",
    .right = "A += s_k",
    .wrong = "nothing after the first, no tap",
    .condition = "K > 1",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"exact_lane", "partition_equals_full_batch"},
    .stages = replaced<&Stages::accumulate, sometimes>,
}};

}  // namespace
}  // namespace tally::accumulate_not_run_fault
