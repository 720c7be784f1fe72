// A trace read as that of a loop that takes a step after every micro-batch.
#pragma once

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// The window that micro-batch k of window w becomes.
int regrouped_window(const Case& c, int window, int micro_batch);
/// The tap's name then. A stage of the whole window ran several times and left its first inputs and its last outputs.
TapName regrouped(const Case& c, TapName name);
/// Whether it speaks of windows as they were cut, and of no others: the schedule's, which count windows, and the items
/// of a whole window.
bool is_of_the_cut(const TapName& name);
/// Without the taps that speak of windows as they were cut.
Trace regrouped(const Case& c, const Trace& trace);
/// Every micro-batch a window.
Case regrouped(const Case& c);

}  // namespace tally
