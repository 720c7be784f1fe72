// The stage is left out, and its taps with it: nothing of it is in the trace.
#include "properties/faults/seeded.hpp"

namespace tally::schedule_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "schedule-not-run",
    .stage = "schedule",
    .right = "t + 1",
    .wrong = "nothing, no tap",
    .condition = "two windows",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"rate_counts_steps_taken"},
    .stages = replaced<&Stages::schedule, nothing>,
}};

}  // namespace
}  // namespace tally::schedule_not_run_fault
