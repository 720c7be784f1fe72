// What ranks put together of a micro-step: the statistics of a batch_norm over all its rows, (batch_norm.1) to
// (batch_norm.3), and the two sums of (batch_norm.5). Sums are added as a sum over ranks is (rank_sums.hpp), in fp32.
//   moments   merged in the order of the ranks (oracle/tolerance/merged_moments.hpp)
//   sums      mean = fl(S fl(1/n)), var = max(0, fl(fl(Q fl(1/n)) - fl(mean mean))) of the sums S of x and Q of x²
//   two_pass  mean likewise, var = fl(Q fl(1/n)) of the sum Q of squares of deviations from it
// Derivations: oracle/variants.md, "Moments of ranks".
// Defined in step_statistics.cpp, step_statistics_bits.cpp.
#pragma once

#include "oracle/case/shards.hpp"
#include "oracle/tolerance/as_written.hpp"
#include "oracle/tolerance/pooled_sums.hpp"

namespace tally::oracle {

/// Where a tensor stands among those that travel together: side by side, padded to a multiple of the ranks, which each
/// have one chunk of it.
PlaceInBucket place_in_step(std::int64_t features, std::size_t ranks, std::size_t tensor, std::size_t tensors);

struct PooledStatistics {
  Expected mean, var, rstd;  // [1, features]
};

/// The statistics of what each rank handed over, by the names of step_tensors(), with "squares" of two_pass; counts:
/// rows of each.
PooledStatistics pooled_statistics(const Declared& declared, const Layer& layer, StepStatistics by,
                                   const std::vector<std::int64_t>& counts, const std::vector<ExpectedTensors>& handed);
/// The same of all rows themselves, from the first operation to the last; of each rank its own, no row where it has
/// none. What moves all rows together moves no variance, so that this is the sharper one where rows have bounds.
PooledStatistics pooled_statistics(const Declared& declared, const Layer& layer, StepStatistics by,
                                   const std::vector<Expected>& rows);
/// A sum over ranks of tensor number `tensor` of so many that travel together.
Expected pooled_sum(const Declared& declared, std::size_t tensor, std::size_t tensors,
                    const std::vector<const Expected*>& addends);

/// Bits that follow from what was handed over, where the subject claims its orders and to be as written; else nothing.
struct PooledBits {
  Prediction mean, var, rstd;
};
PooledBits pooled_bits(const Declared& declared, const Layer& layer, StepStatistics by,
                       const std::vector<std::int64_t>& counts,
                       const std::vector<std::map<std::string, Matrix<float>>>& handed);
Prediction pooled_sum_bits(const Declared& declared, std::size_t tensor, std::size_t tensors,
                           const std::vector<Matrix<float>>& addends);

}  // namespace tally::oracle
