// What elementwise kernels share: the grid-stride loop, the launch that fits it, the choice of a storage type, and what
// a number is once it was stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <utility>

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/half.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launch_paths.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
inline namespace TALLY_SIDE {

/// Calls `use` with a value of the C++ type of a storage format; with all of them while ways are declared. Throws
/// std::invalid_argument, which names the format and the caller, for a format that kernels have no type for.
template <class Use>
void by_storage(Dtype storage, Use use, std::source_location at = std::source_location::current()) {
  const auto in = [&](Dtype dtype) {
    const LaunchFormat format(dtype);
    with_type_of(dtype, use, at);
  };
  if (!declaring_paths()) return in(storage);
  for (const Dtype dtype : storage_formats()) in(dtype);
}

/// The same of two formats.
template <class Use>
void by_storages(Dtype first, Dtype second, Use use, std::source_location at = std::source_location::current()) {
  by_storage(
      first,
      [&]<class First>(First one) {
        by_storage(
            second, [&](auto other) { use(one, other); }, at);
      },
      at);
}

/// The first element of this thread in a grid-stride loop, and how far apart its elements lie.
__device__ inline std::int64_t first_element() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t element_stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

/// One thread an element: whole warps up to 256 threads a block, at most 4096 blocks; nothing for no elements.
template <auto kernel, class... Arguments>
void launch_elements(Stream& stream, std::int64_t elements, Arguments&&... arguments) {
  constexpr std::int64_t most_threads = 256;
  const std::int64_t threads = std::clamp<std::int64_t>((elements + 31) / 32 * 32, 32, most_threads);
  const std::int64_t needed = (elements + threads - 1) / threads;
  const std::int64_t blocks = std::min(needed, blocks_at_most(4096));
  const bool full = elements % threads == 0;
  if (!take_way({{"one block, full", needed == 1 && full},
                 {"one block, its last warp cut", needed == 1 && !full},
                 {"several blocks, the last one full", needed > 1 && full},
                 {"several blocks, the last one cut", needed > 1 && !full},
                 {"strides over the grid", blocks < needed}}) ||
      elements == 0)
    return;
  launch<kernel>(stream, {static_cast<unsigned>(blocks), static_cast<unsigned>(threads)},
                 std::forward<Arguments>(arguments)...);
}

// What kernels that store a number between two steps go on with.

/// x as S holds it; x itself where it is not stored.
template <class S, bool stores = true>
__device__ float stored(float x) {
  return stores ? to_float(from_float<S>(x)) : x;
}

}  // namespace TALLY_SIDE
}  // namespace tally
