// Sums and maxima along a row: `lanes` threads (1 or a warp of 32) share a row. Lane l takes elements l, l + lanes, ...
// in that order; a warp's partial results meet in a shuffle tree of five levels. One lane: plain order, no shuffle.
#pragma once

#include <cstdint>

#include "kernels/device/cuda_words.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {
inline namespace TALLY_SIDE {

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

}  // namespace TALLY_SIDE
}  // namespace tally
