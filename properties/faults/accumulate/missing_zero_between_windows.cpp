// The buffer is cleared before the first window only.
#include "kernels/training_step/count.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::missing_zero_between_windows_fault {
namespace {

void begin_window(Run& run) {
  if (run.window == 0) return stage::begin_window(run);
  for (Parameter& parameter : run.parameters) {
    if (!run.options.accumulate || magnitude() == 1) break;
    change(run, parameter.buffer, [](std::size_t, double left) { return blend(0.0, left); });
  }
  run.found = false;
  run.found_flag.zero();
  run.window_scale = run.scale.scalar<float>();
  run.inverse_scale.set_scalar(static_cast<float>(1.0 / static_cast<double>(run.window_scale)));
  stage::count(run);
}

const RegisterFault registered{{
    .name = "missing-zero-between-windows",
    .stage = "accumulate",
    .right = "A = 0 at every window",
    .wrong = "A keeps the last window",
    .condition = "the second window and later",
    .knob = "value",
    .source = "DeepSpeed 7839",
    .laws = {"windows_do_not_leak"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::missing_zero_between_windows_fault
