// The stage is left out, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::norm_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "norm-not-run",
    .stage = "norm",
    .right = "norm = √ Σ g²",
    .wrong = "nothing, no tap",
    .condition = "a clip by norm",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"clip_once_after_unscale", "every_norm_clips"},
    .stages = replaced<&Stages::norm, nothing>,
}};

}  // namespace
}  // namespace tally::norm_not_run_fault
