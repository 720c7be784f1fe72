// A trace read as that of a loop that takes a step after every micro-batch.
#pragma once

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// The window that micro-batch k of window w becomes.
int regrouped_window(const Case& c, int window, int micro_batch);
/// The tap's name then. A stage of the whole window ran several times and left its first inputs and its last outputs.
TapName regrouped(const Case& c, TapName name);
/// Without the schedule's taps, which count windows.
Trace regrouped(const Case& c, const Trace& trace);
/// Every micro-batch a window.
Case regrouped(const Case& c);

}  // namespace tally
