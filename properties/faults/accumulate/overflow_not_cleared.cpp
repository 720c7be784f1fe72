// A window that overflowed leaves its buffers as they are: the next one adds to infinity.
#include <vector>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::overflow_not_cleared_fault {
namespace {

void begin_window(Run& run) {
  std::vector<Tensor> kept;
  const bool skipped = run.window > 0 && run.found;
  if (skipped) {
    for (Parameter& parameter : run.parameters) kept.push_back(parameter.buffer.read());
  }
  stage::begin_window(run);
  std::size_t next = 0;
  for (Parameter& parameter : run.parameters) {
    if (!skipped) return;
    const Tensor& old = kept[next++];
    change(run, parameter.buffer, [&](std::size_t i, double) { return old.value(i); });
  }
}

const RegisterFault registered{{
    .name = "overflow-not-cleared",
    .stage = "accumulate",
    .right = "A = 0 after a skipped window",
    .wrong = "A keeps inf and NaN",
    .condition = "the window after an overflow",
    .knob = "none",
    .source = "espnet PR 3283",
    .laws = {"overflow_skips_the_window", "overflow_anywhere_is_found", "non_finite_stays_in_its_rows",
             "overflows_in_a_row"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::overflow_not_cleared_fault
