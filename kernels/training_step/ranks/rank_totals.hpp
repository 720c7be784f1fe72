// Small numbers that ranks add up: the items of a window, and what was found.
#pragma once

#include "kernels/training_step/run/run_state.hpp"
#include "oracle/case/rows.hpp"

// Small numbers that ranks add up: counts, and what was found.
namespace tally {

/// The sum over all ranks in their order, on every rank; the number itself where one rank trains. `about` is the stage
/// that asks.
std::int64_t sum_over_ranks(Run& run, const char* about, std::int64_t own);
double sum_over_ranks(Run& run, const char* about, double own);
/// The same over the stages of a pipeline.
std::int64_t sum_over_stages(Run& run, const char* about, std::int64_t own);
/// The norm of all, by what each rank found of its own pieces, or each stage of a pipeline of its own layers; fp32, in
/// the order of the ranks or stages.
float norm_over_ranks(Run& run, float own);

}  // namespace tally

// The items of a window, counted before its first micro-batch, as whoever divides by all of them must.
namespace tally::stage {

/// run.window_items, N; where items are counted (oracle/case/rows.hpp), what they are counted from and the counts
/// are tapped.
void count(Run& run);

/// Takes these counts, and taps them.
void leave_counts(Run& run, const CountedItems& counted);

}  // namespace tally::stage
