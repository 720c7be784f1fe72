// Reduces one value a thread over a block: a shuffle tree of five levels in each warp, then the warps' results in the
// first warp likewise. Blocks are whole warps, at most 1024 threads. The order is fixed by the block's size.
#pragma once

#include "kernels/device/cuda_words.hpp"
#include "kernels/reduction/row_sum.hpp"

namespace tally {
inline namespace TALLY_SIDE {

inline constexpr int most_warps = 32;

/// The block's result in thread 0. `combine(a, b)` must be commutative; `neutral` fills the missing warps.
template <class Combine>
__device__ inline float block_result(float value, float neutral, Combine combine, Shared<float, most_warps> partial) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(whole_warp, value, distance));
  }
  if (warps == 1) return value;
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < warps ? partial[lane] : neutral;
    for (int distance = 16; distance > 0; distance /= 2) {
      value = combine(value, __shfl_xor_sync(whole_warp, value, distance));
    }
  }
  return value;
}

}  // namespace TALLY_SIDE
}  // namespace tally
