// At the end of the data every micro-batch of the last window forces a step.
#include "properties/faults/planted_window.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::forced_step_at_the_end_fault {
namespace {

bool steps_after(const Run& run, int k) {
  const bool last = static_cast<std::size_t>(run.window) + 1 == run.c.windows.size();
  return last || k + 1 == micro_batches(run);
}

const RegisterFault registered{{
    .name = "forced-step-at-the-end",
    .stage = "unscale",
    .right = "one step at the end of the last window",
    .wrong = "one after each of its micro-batches",
    .condition = "the last window, K > 1",
    .knob = "none",
    .source = "accelerate 1847, 2831, Lightning 21808",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::forced_step_at_the_end_fault
