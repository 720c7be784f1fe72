// How a loop differs from its case in ways that no case can state. The end-to-end walk expects it only for a hypothesis
// about a cause (properties/diagnosis/restatement.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tally {

enum class ClipPlace {
  of_window,       // as the recipe says
  each_gradient,   // every micro-batch's own gradient, before it is added; none at the window's end
  running_sum,     // what the buffers hold after every micro-batch
  before_unscale,  // what the buffers hold at the window's end, scaled
};

enum class BufferStart {
  cleared,          // at the window's start, as the recipe says
  kept,             // never: with what the window before summed
  kept_as_stepped,  // never: with that after unscaling and clipping in place
  overwritten,      // at every micro-batch
};

/// Functions are empty, and places the recipe's own, where nothing differs. Windows and micro-batches count from 0.
struct LoopDeviation {
  /// What a micro-batch's sum is divided by, in place of (divisor.1). Not for claims with `divide: window`.
  std::function<long double(int window, int micro_batch)> divisor = {};
  /// The steps that the schedule counts in a window, and those that the optimizer does, for `taken` before it.
  std::function<std::int64_t(int window, std::int64_t taken)> schedule_count = {}, optimizer_count = {};
  /// A multiple of each parameter that joins every micro-batch's gradient before the loss scale.
  std::function<long double(int window, int micro_batch)> penalty = {};
  /// How often the decay of a window is applied, and by how much it is stronger.
  std::function<int(int window)> decays = {}, times_lambda = {};
  bool leaves_corrections_out = false;  // of the optimizer's moments, as if it had taken steps for ever
  ClipPlace clip = ClipPlace::of_window;
  BufferStart buffer = BufferStart::cleared;
  /// Parameters whose buffers are never cleared, whatever `buffer` says of others.
  std::function<bool(const std::string& parameter)> keeps = {};
  /// Windows that begin with the buffers of the one before, whatever `buffer` says of others.
  std::function<bool(int window)> goes_on = {};
};

}  // namespace tally
