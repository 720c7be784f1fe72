// A window that overflowed takes its running statistics back.
#include <vector>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::running_values_restored_on_skip_fault {
namespace {

thread_local std::vector<Tensor> before;

void begin_window(Run& run) {
  before.clear();
  for (LayerState& layer : run.layers) {
    for (const DeviceTensor* running : {&layer.running_mean, &layer.running_var}) {
      if (*running) before.push_back(running->read());
    }
  }
  stage::begin_window(run);
}

void end_window(Run& run) {
  stage::end_window(run);
  if (!run.found) return;
  std::size_t next = 0;
  for (LayerState& layer : run.layers) {
    for (const DeviceTensor* running : {&layer.running_mean, &layer.running_var}) {
      if (!*running) continue;
      const Tensor& old = before[next++];
      change(run, *running, [&](std::size_t i, double value) { return blend(value, old.value(i)); });
    }
  }
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.end_window = end_window;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "running-values-restored-on-skip",
    .stage = "running_stats",
    .right = "running values move in every window",
    .wrong = "they return to the window's start",
    .condition = "an overflow, BatchNorm",
    .knob = "value",
    .source = "LibreYOLO PR 771: what a skipped step may touch",
    .laws = {"running_statistics_move_on_skip"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::running_values_restored_on_skip_fault
