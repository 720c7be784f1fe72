// What kernels that store a number between two steps go on with.
#pragma once

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/half.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// x as S holds it; x itself where it is not stored.
template <class S, bool stores = true>
__device__ float stored(float x) {
  return stores ? to_float(from_float<S>(x)) : x;
}

}  // namespace TALLY_SIDE
}  // namespace tally
