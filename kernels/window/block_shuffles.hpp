// A block's part of a norm by shuffles in each warp, then over the warps (kernels/reduction/block_sum.hpp).
#pragma once

#include "kernels/reduction/block_sum.hpp"

namespace tally {
inline namespace TALLY_SIDE {

struct BlockShuffles {
  /// The block's result in thread 0; 0 must be neutral to `combine`.
  template <class Combine>
  static __device__ float reduce(float value, Combine combine) {
    TALLY_SHARED(float, partial, most_warps);
    return block_result(value, 0.0f, combine, partial);
  }
};

}  // namespace TALLY_SIDE
}  // namespace tally
