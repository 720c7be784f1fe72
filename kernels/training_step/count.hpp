// The items of a window, counted before its first micro-batch, as whoever divides by all of them must.
#pragma once

#include "kernels/training_step/run_state.hpp"
#include "oracle/case/counted.hpp"

namespace tally::stage {

/// run.window_items, N; where items are counted (oracle/case/counted.hpp), what they are counted from and the counts
/// are tapped.
void count(Run& run);

/// Takes these counts, and taps them.
void leave_counts(Run& run, const CountedItems& counted);

}  // namespace tally::stage
