// A thread's share of a row of elements, some of them a turn: a turn's are all read before the first is used, so that
// as many loads are under way at once. Thread t of a block has elements t, t + threads, ... and uses them in that
// order, however many it takes a turn.
#pragma once

#include "kernels/device/cuda_words.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// The turn that begins with element `first`; `whole`: all its elements are there.
template <bool whole, int a_turn, class Index, class Read, class Use>
__device__ inline void take_turn(Index first, Index elements, Read read, Use use) {
  const auto threads = static_cast<Index>(blockDim.x);
  decltype(read(first)) values[a_turn]{};
  for (int k = 0; k < a_turn; ++k) {
    if (whole || first + k * threads < elements) values[k] = read(first + k * threads);
  }
  for (int k = 0; k < a_turn; ++k) {
    if (whole || first + k * threads < elements) use(first + k * threads, values[k]);
  }
}

/// `use(i, read(i))` for every element i of `elements` that is this thread's. Index: signed, with room for a turn more
/// than `elements`.
template <int a_turn, class Index, class Read, class Use>
__device__ inline void for_own_elements(Index elements, Read read, Use use) {
  const auto threads = static_cast<Index>(blockDim.x);
  for (Index first = static_cast<Index>(threadIdx.x); first < elements; first += a_turn * threads) {
    if (first + (a_turn - 1) * threads < elements) {
      take_turn<true, a_turn>(first, elements, read, use);
    } else {
      take_turn<false, a_turn>(first, elements, read, use);
    }
  }
}

}  // namespace TALLY_SIDE
}  // namespace tally
