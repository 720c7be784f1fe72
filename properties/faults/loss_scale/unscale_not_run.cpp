// The stage is left out, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::unscale_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "unscale-not-run",
    .stage = "unscale",
    .right = "g = A / S",
    .wrong = "nothing, no tap",
    .condition = "always",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale"},
    .stages = replaced<&Stages::unscale, nothing>,
}};

}  // namespace
}  // namespace tally::unscale_not_run_fault
