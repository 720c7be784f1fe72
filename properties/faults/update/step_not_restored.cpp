// A run that goes on from a checkpoint counts its steps from zero.
#include "properties/faults/seeded.hpp"

namespace tally::step_not_restored_fault {
namespace {

void begin_window(Run& run) {
  if (run.window == 0) run.step = blend_whole(run.step, 0);
  stage::begin_window(run);
}

const RegisterFault registered{{
    .name = "step-not-restored",
    .stage = "optimizer",
    .right = "t of the checkpoint",
    .wrong = "t = 0",
    .condition = "a start in the middle of training",
    .knob = "steps",
    .source = "transformers PR 8624, gpt-neox PR 308",
    .laws = {"resumes_bitwise", "state_is_taken_over"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::step_not_restored_fault
