// Synchronised batch_norm: statistics over a micro-step, the k-th micro-batch of every rank that has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// Whether the layer is a batch_norm of "micro_step" statistics. The statistics of one rank are those of its
/// micro-batches.
bool takes_step_statistics(const Layer& layer);
/// Whether ranks put its statistics together: the case is run by ranks, of which there may be one.
bool pools_steps(const Case& c, const Layer& layer);
/// Whether they do so for any layer.
bool pools_steps(const Case& c);
/// Whether its statistics are those of parts of a window, of which the full batch makes one.
bool normalises_parts(const Layer& layer);

/// What ranks hand over for them: the option `execution.ranks.statistics`.
enum class StepStatistics {
  moments,  // mean and variance of their own rows, which are merged
  sums,     // sums of x and of x², added
  two_pass  // sums of x, then of squares of deviations from the common mean
};
StepStatistics step_statistics_of(const Case& c);
/// What travels first, in the order in which it does: "mean" and "var", "sum" and "sum_squares", or "sum", behind which
/// "squares" follow.
std::vector<std::string> step_tensors(StepStatistics by);

/// The rows that each rank of the whole case has in micro-step k of a window; 0 where it has no such micro-batch.
std::vector<std::int64_t> step_counts(const Case& c, std::size_t window, std::size_t step);
/// Their sum.
std::int64_t rows_of_step(const Case& c, std::size_t window, std::size_t step);

}  // namespace tally
