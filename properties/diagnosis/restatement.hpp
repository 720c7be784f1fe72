// A restatement: what a loop may do in place of what its case says; a failed capture judged again under each.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// Steps taken before the case begins.
std::int64_t steps_before(const Case& c);

// A trace read as that of a loop that takes a step after every micro-batch.

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

// A failed capture judged again under other recipes.

/// Whether the capture is small enough to be judged some dozens of times.
bool small_enough_to_restate(const Case& c, const Trace& trace);

/// The restatements that pass inside all their bounds, the least demanding first, where `checks` of the statement fail.
/// All checks of the statement must pass, none may become vacuous or missing, and the error that made the statement
/// fail must be larger than the restatement's own bounds admit. A restatement that explains only a part is not named.
std::vector<Suspicion> restated_causes(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

}  // namespace tally
