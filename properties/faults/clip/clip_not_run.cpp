// The stage is left out, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::clip_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "clip-not-run",
    .stage = "clip",
    .right = "g min(1, c / (norm + eps))",
    .wrong = "nothing, no tap",
    .condition = "an active clip",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::clip, nothing>,
}};

}  // namespace
}  // namespace tally::clip_not_run_fault
