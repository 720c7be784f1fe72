// A fused optimizer advances its state in a window that overflowed.
#include "properties/faults/seeded.hpp"

namespace tally::state_advances_on_skip_fault {
namespace {

void scaler(Run& run) {
  if (run.found) {
    run.stages.unscale(run);
    run.stages.optimizer(run);
  }
  stage::scaler(run);
}

const RegisterFault registered{{
    .name = "state-advances-on-skip",
    .stage = "optimizer",
    .right = "a skipped window changes no state",
    .wrong = "the optimizer runs all the same",
    .condition = "an overflow",
    .knob = "none",
    .source = "LibreYOLO PR 771",
    .laws = {"overflow_skips_the_window"},
    .stages = replaced<&Stages::scaler, scaler>,
}};

}  // namespace
}  // namespace tally::state_advances_on_skip_fault
