// The buffer is never cleared; fresh memory is poisoned here, where a framework often finds zeros.
#include "properties/faults/seeded.hpp"

namespace tally::uninitialised_accumulator_fault {
namespace {

void begin_window(Run& run) {
  stage::begin_window(run);
  if (run.window != 0 || !run.options.accumulate) return;
  for (Parameter& parameter : run.parameters) parameter.buffer.poison();
}

const RegisterFault registered{{
    .name = "uninitialised-accumulator",
    .stage = "accumulate",
    .right = "A = 0 at the start",
    .wrong = "A = whatever memory held",
    .condition = "the first window",
    .knob = "none",
    .source = "llm.c 486f98e, torch nn 318",
    .laws = {"one_micro_batch_equals_plain", "repeats_bitwise", "every_output_is_written"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::uninitialised_accumulator_fault
