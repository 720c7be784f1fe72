// The flag that asks for communication after every micro-batch also makes the optimizer step.
#include "properties/faults/planted_window.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::step_at_every_microbatch_fault {
namespace {

bool steps_after(const Run&, int) { return true; }

const RegisterFault registered{{
    .name = "step-at-every-microbatch",
    .stage = "unscale",
    .right = "one step a window",
    .wrong = "one step a micro-batch",
    .condition = "K > 1",
    .knob = "none",
    .source = "accelerate 2790",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::step_at_every_microbatch_fault
