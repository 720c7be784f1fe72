// The stage is left out, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::scaler_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "scaler-not-run",
    .stage = "scaler",
    .right = "scale and counter after the window",
    .wrong = "nothing, no tap",
    .condition = "dynamic loss scale",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"scaler_counts_windows"},
    .stages = replaced<&Stages::scaler, nothing>,
}};

}  // namespace
}  // namespace tally::scaler_not_run_fault
