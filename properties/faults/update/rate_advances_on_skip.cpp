// The schedule moves in a window that took no step.
#include "properties/faults/seeded.hpp"

namespace tally::rate_advances_on_skip_fault {
namespace {

void schedule(Run& run) {
  stage::schedule(run);
  if (!run.found) return;
  ++run.step;
  run.tap("schedule", "step", run.step);
}

const RegisterFault registered{{
    .name = "rate-advances-on-skip",
    .stage = "schedule",
    .right = "a skipped window does not count",
    .wrong = "it counts",
    .condition = "an overflow",
    .knob = "none",
    .source = "pytorch 67590, DeepSpeed 8415",
    .laws = {"rate_counts_steps_taken", "bias_correction_counts_steps_taken"},
    .stages = replaced<&Stages::schedule, schedule>,
}};

}  // namespace
}  // namespace tally::rate_advances_on_skip_fault
