// The loop of a window that takes its step in other places than its end.
#pragma once

#include "properties/faults/seeded.hpp"

namespace tally {

/// Whether the optimizer steps after micro-batch k of the run's window.
using StepsAfter = bool (*)(const Run& run, int k);

/// The shipped loop, with a step and cleared buffers wherever `steps_after` says, and there alone. The scaler and the
/// schedule move with every step. Micro-batches go one by one: cases in lockstep run the shipped loop.
void run_window_stepping(Run& run, StepsAfter steps_after);

/// As a stage.
template <StepsAfter steps_after>
void window_stepping(Run& run) {
  run_window_stepping(run, steps_after);
}

/// Micro-batches before micro-batch k of the run's window, over all windows.
inline int micro_batches_before(const Run& run, int k) {
  int before = k;
  for (int w = 0; w < run.window; ++w) before += static_cast<int>(run.c.windows[static_cast<std::size_t>(w)].size());
  return before;
}

}  // namespace tally
