// The stage is left out, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::optimizer_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "optimizer-not-run",
    .stage = "optimizer",
    .right = "p - lr step",
    .wrong = "nothing, no tap",
    .condition = "always",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"decay_and_momentum_once", "every_window_takes_its_step"},
    .stages = replaced<&Stages::optimizer, nothing>,
}};

}  // namespace
}  // namespace tally::optimizer_not_run_fault
