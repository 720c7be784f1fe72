// Sums down the columns of a row-major matrix: a block covers 32 neighbouring columns, `lanes` threads share a column.
// Lane l adds rows l, l + lanes, ... in that order; the lanes' sums are then added pairwise. One lane: plain order, and
// no barrier.
#pragma once

#include <cstdint>

#include "kernels/device/cuda_words.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {
inline namespace TALLY_SIDE {

inline constexpr int column_tile = 32;
/// Rows from which on several threads share a column.
inline constexpr std::int64_t shared_column_rows = 64;
inline constexpr int column_lanes = 8;

/// The order of a sum down a column, for the claim of its kernel.
inline OrderOfSum column_additions() {
  return {{SumStep::in_order_below, shared_column_rows}, {SumStep::lanes, column_lanes}, {SumStep::tree}};
}

/// The column's total in every thread of it. `partial` is the block's shared memory and may be reused afterwards.
template <int lanes>
__device__ inline float column_total(float sum, Shared<float, lanes, column_tile> partial) {
  if constexpr (lanes == 1) {
    return sum;
  } else {
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = lanes / 2; half > 0; half /= 2) {
      if (threadIdx.y < half) {
        partial[threadIdx.y][threadIdx.x] =
            __fadd_rn(partial[threadIdx.y][threadIdx.x], partial[threadIdx.y + half][threadIdx.x]);
      }
      __syncthreads();
    }
    const float total = partial[0][threadIdx.x];
    __syncthreads();
    return total;
  }
}

}  // namespace TALLY_SIDE
}  // namespace tally
