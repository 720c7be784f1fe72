// A last window with fewer micro-batches than K never steps: its gradient is lost.
#include "properties/faults/planted_window.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::tail_window_dropped_fault {
namespace {

bool steps_after(const Run& run, int k) {
  const bool whole = run.c.windows[static_cast<std::size_t>(run.window)].size() >= run.c.windows.front().size();
  return whole && k + 1 == micro_batches(run);
}

const RegisterFault registered{{
    .name = "tail-window-dropped",
    .stage = "optimizer",
    .right = "step on the remainder",
    .wrong = "no step",
    .condition = "a last window with r < K",
    .knob = "none",
    .source = "torchseq 8, Lightning 19684, pet PR 25",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::tail_window_dropped_fault
