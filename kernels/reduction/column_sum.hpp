// Sums down the columns of a row-major matrix, and how a kernel of columns is launched.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/launch.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// Sums down the columns of a row-major matrix: a block covers 32 neighbouring columns, `lanes` threads share a column.
// Lane l adds rows l, l + lanes, ... in that order; the lanes' sums are then added pairwise. One lane: plain order, and
// no barrier.

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

// Launches a kernel of kernels/reduction/column_sum.hpp: how many threads share a column, and how many blocks there
// are.

/// Calls `use.operator()<lanes>()`.
template <class Use>
void by_column_lanes(std::int64_t rows, Use use) {
  const bool all = declaring_paths();
  if (all || rows < shared_column_rows) {
    const LaunchPart part("one thread a column");
    use.template operator()<1>();
  }
  if (all || rows >= shared_column_rows) {
    const LaunchPart part("8 threads a column");
    take_way({{"a column's last stride full", rows % column_lanes == 0},
              {"a column's last stride cut", rows % column_lanes != 0}});
    use.template operator()<column_lanes>();
  }
}

template <int lanes, auto kernel, class... Arguments>
void launch_columns(Stream& stream, std::int64_t columns, Arguments&&... arguments) {
  const std::int64_t blocks = (columns + column_tile - 1) / column_tile;
  const bool full = columns % column_tile == 0;
  if (!take_way({{"one block, full", blocks == 1 && full},
                 {"one block, cut", blocks == 1 && !full},
                 {"several blocks, the last one full", blocks > 1 && full},
                 {"several blocks, the last one cut", blocks > 1 && !full}}) ||
      columns == 0)
    return;
  launch<kernel>(stream, {static_cast<unsigned>(blocks), dim3(column_tile, lanes)},
                 std::forward<Arguments>(arguments)...);
}

}  // namespace TALLY_SIDE
}  // namespace tally
