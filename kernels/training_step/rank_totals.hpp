// Small numbers that ranks add up: counts, and what was found.
#pragma once

#include "kernels/training_step/run_state.hpp"

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
