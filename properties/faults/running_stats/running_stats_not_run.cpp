// The stage is left out there, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::running_stats_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.group_begin > 0 || run.window > 0;
  if (!left_out) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "running-stats-not-run",
    .stage = "running_stats",
    .right = "one update a micro-batch or window",
    .wrong = "nothing after the first micro-batch, no tap",
    .condition = "batch norm, K > 1 or two windows",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"every_tap_is_there"},
    .stages = replaced<&Stages::running_stats, sometimes>,
}};

}  // namespace
}  // namespace tally::running_stats_not_run_fault
