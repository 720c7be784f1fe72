// Buffers are cleared after the step and again before the window: zero is zero.
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::buffers_cleared_twice_fault {
namespace {

void end_window(Run& run) {
  stage::end_window(run);
  for (Parameter& parameter : run.parameters) {
    if (parameter.buffer) parameter.buffer.zero();
  }
}

const RegisterEquivalent registered{{
    .name = "buffers-cleared-twice",
    .change = "buffers are cleared after the step and again before the window",
    .why = "zero is zero",
    .source = "accelerate 2790: zero_grad wherever a loop puts it",
    .laws = {"windows_do_not_leak", "overflow_skips_the_window", "partition_equals_full_batch"},
    .stages = replaced<&Stages::end_window, end_window>,
}};

}  // namespace
}  // namespace tally::buffers_cleared_twice_fault
