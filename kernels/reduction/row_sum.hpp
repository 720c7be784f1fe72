// Sums and maxima along a row, and how a kernel of rows is launched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/launch.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// Sums and maxima along a row: `lanes` threads (1 or a warp of 32) share a row. Lane l takes elements l, l + lanes, ...
// in that order; a warp's partial results meet in a shuffle tree of five levels. One lane: plain order, no shuffle.

/// Row length from which on a warp shares a row.
inline constexpr std::int64_t shared_row_elements = 33;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// The order of a sum along a row, for the claim of its kernel.
inline OrderOfSum row_additions() {
  return {{SumStep::in_order_below, shared_row_elements}, {SumStep::lanes, 32}, {SumStep::tree}};
}

/// The row's total in every lane.
template <int lanes>
__device__ inline float row_total(float sum) {
  if constexpr (lanes > 1) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
      sum = __fadd_rn(sum, __shfl_xor_sync(whole_warp, sum, distance));
    }
  }
  return sum;
}

/// The row's maximum in every lane. A NaN is passed over; what is computed from it afterwards shows it.
template <int lanes>
__device__ inline float row_maximum(float value) {
  if constexpr (lanes > 1) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(whole_warp, value, distance);
      value = other > value ? other : value;
    }
  }
  return value;
}

/// The row this thread works on, and its lane in it. Blocks are [lanes, rows a block].
struct RowPlace {
  std::int64_t row, row_stride;
  int lane;
};

__device__ inline RowPlace row_place() {
  return {static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y,
          static_cast<std::int64_t>(gridDim.x) * blockDim.y, static_cast<int>(threadIdx.x)};
}

// Launches a kernel of kernels/reduction/row_sum.hpp: how many threads share a row, and how many rows a block takes.

/// How a row falls into the strides of the warp that shares it.
inline void take_stride_ways(std::int64_t elements) {
  take_way({{"a row's last stride full", elements % 32 == 0},
            {"a row's last stride cut", elements % 32 != 0},
            {"768 elements a row or more", elements >= 768}});
}

/// Calls `use.operator()<lanes>()`.
template <class Use>
void by_row_lanes(std::int64_t elements, Use use) {
  const bool all = declaring_paths();
  if (all || elements < shared_row_elements) {
    const LaunchPart part("one thread a row");
    use.template operator()<1>();
  }
  if (all || elements >= shared_row_elements) {
    const LaunchPart part("a warp a row");
    take_stride_ways(elements);
    use.template operator()<32>();
  }
}

/// Blocks of at most 128 threads, at most 65535 blocks; each takes further rows in strides.
template <int lanes, auto kernel, class... Arguments>
void launch_rows(Stream& stream, std::int64_t rows, Arguments&&... arguments) {
  const std::int64_t rows_a_block = std::clamp<std::int64_t>(rows, 1, 128 / lanes);
  const std::int64_t needed = (rows + rows_a_block - 1) / rows_a_block;
  const std::int64_t blocks = std::min(needed, blocks_at_most(65535));
  const bool full = rows % rows_a_block == 0;
  if (!take_way({{"one block", needed == 1},
                 {"several blocks, the last one full", needed > 1 && full},
                 {"several blocks, the last one cut", needed > 1 && !full},
                 {"strides over the grid", blocks < needed}}) ||
      rows == 0)
    return;
  launch<kernel>(stream, {static_cast<unsigned>(blocks), dim3(lanes, static_cast<unsigned>(rows_a_block))},
                 std::forward<Arguments>(arguments)...);
}

}  // namespace TALLY_SIDE
}  // namespace tally
