// The stage is left out there, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.window > 0;
  if (!left_out) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "running-stats-not-run",
    .stage = "running_stats",
    .right = "one update a window",
    .wrong = "nothing after the first window, no tap",
    .condition = "batch norm, two windows",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"running_statistics_move_once"},
    .stages = replaced<&Stages::running_stats, sometimes>,
}};

}  // namespace
}  // namespace tally
