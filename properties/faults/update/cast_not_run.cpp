// The stage is left out there, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::cast_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.window > 0;
  if (!left_out) stage::cast(run);
}

const RegisterFault registered{{
    .name = "cast-not-run",
    .stage = "cast",
    .right = "w = cast(p) in every window",
    .wrong = "the first window's copy, no tap",
    .condition = "two windows",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::cast, sometimes>,
}};

}  // namespace
}  // namespace tally::cast_not_run_fault
