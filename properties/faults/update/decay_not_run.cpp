// The stage is left out, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::decay_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "decay-not-run",
    .stage = "decay",
    .right = "g + λ p, or p (1 - lr λ)",
    .wrong = "nothing, no tap",
    .condition = "weight decay",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::decay, nothing>,
}};

}  // namespace
}  // namespace tally::decay_not_run_fault
