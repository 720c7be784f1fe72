// Many tensors in one launch: how they are cut into chunks, and a thread's share of a chunk.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/device/cuda_words.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// Many tensors in one launch: each cut into chunks of 4096 elements, one block a chunk.
// Thread t of a block takes elements t, t + threads, ... of its chunk. All offsets are 64 bits wide: a tensor may be
// larger than 2^31 elements, the chunks of one launch may not be more than 2^31 - 1.

/// A GPU loses some microseconds at the border of two launches, a host thread some copying a launch's parameters. The
/// number decides about no result's bits.
#ifdef __CUDACC__
inline constexpr int tensors_a_launch = 256;
#else
inline constexpr int tensors_a_launch = 24;
#endif

/// The largest block.
inline constexpr unsigned threads_a_chunk = 256;

/// Elements [begin, end) of a launch's tensor.
struct ChunkRange {
  int tensor;
  std::int64_t begin, end;
  __host__ __device__ int elements() const { return static_cast<int>(end - begin); }
};

/// The tensors of one launch, none of them empty; chunks are numbered through them, `first_chunk[i]` being tensor i's
/// first.
struct TensorChunks {
  std::int64_t elements[tensors_a_launch];
  std::int64_t first_chunk[tensors_a_launch];
  int tensors;

  /// What lies behind a chunk's number.
  __host__ __device__ ChunkRange range(std::int64_t chunk) const {
    int tensor = 0;
    for (int behind = tensors; tensor + 1 < behind;) {  // in [tensor, behind)
      const int middle = (tensor + behind) / 2;
      (first_chunk[middle] <= chunk ? tensor : behind) = middle;
    }
    const std::int64_t begin = (chunk - first_chunk[tensor]) * norm_chunk;
    const std::int64_t left = elements[tensor] - begin;
    return {tensor, begin, begin + (left < norm_chunk ? left : norm_chunk)};
  }
};

/// A launch: its tensors, which of all tensors they are, its chunks, and the chunks of the launches before.
struct TensorBatch {
  TensorChunks table;
  std::array<std::size_t, tensors_a_launch> which;
  std::int64_t chunks, done, largest;
  /// Whole warps, no more than there is work for, at most threads_a_chunk.
  unsigned threads() const {
    return static_cast<unsigned>(std::clamp<std::int64_t>((largest + 31) / 32 * 32, 32, threads_a_chunk));
  }
};

/// How a tensor of a launch falls into chunks, and its chunk into a block's strides.
inline void take_chunk_ways(std::int64_t elements) {
  const std::int64_t chunks = (elements + norm_chunk - 1) / norm_chunk;
  const bool full = elements % (chunks == 1 ? threads_a_chunk : norm_chunk) == 0;
  take_way({{"one stride of a block", elements <= threads_a_chunk},
            {"strides of a block, the last one full", elements > threads_a_chunk && chunks == 1 && full},
            {"strides of a block, the last one cut", chunks == 1 && !full && elements > threads_a_chunk},
            {"several chunks, the last one full", chunks > 1 && full},
            {"several chunks, the last one cut", chunks > 1 && !full}});
}

/// On a GPU a launch takes more tensors than the networks that are drawn have.
inline void take_launch_ways(std::size_t launches) {
  constexpr std::string_view reason = tensors_a_launch > 64 ? "more tensors than a drawn network has" : "";
  take_way({{"one launch", launches == 1}, {"several launches", launches > 1, reason}});
}

/// Calls `use(batch)` for every launch; while ways are declared, for one without tensors. `elements_of(i)` for tensor i
/// of `tensors`. Empty tensors are passed over. Returns the chunks of all.
template <class Elements, class Use>
std::int64_t for_each_batch(std::size_t tensors, Elements elements_of, Use use) {
  std::int64_t done = 0;
  std::size_t launches = 0;
  for (std::size_t next = 0; next < tensors || (declaring_paths() && launches == 0);) {
    TensorBatch batch{};
    for (; next < tensors && batch.table.tensors < tensors_a_launch; ++next) {
      const std::int64_t elements = elements_of(next);
      if (elements == 0) continue;
      const auto at = static_cast<std::size_t>(batch.table.tensors++);
      batch.which[at] = next;
      batch.table.elements[at] = elements;
      batch.table.first_chunk[at] = batch.chunks;
      batch.chunks += (elements + norm_chunk - 1) / norm_chunk;
      batch.largest = std::max(batch.largest, elements);
      take_chunk_ways(elements);
    }
    if (batch.chunks == 0 && !declaring_paths()) continue;
    ++launches;
    batch.done = done;
    use(static_cast<const TensorBatch&>(batch));
    done += batch.chunks;
  }
  if (declaring_paths()) take_chunk_ways(0);
  take_launch_ways(launches);
  return done;
}

/// One block a chunk.
inline LaunchShape shape_of(const TensorBatch& batch, std::source_location at = std::source_location::current()) {
  return {static_cast<unsigned>(batch.chunks), batch.threads(), 0, at};
}

// A thread's share of a row of elements, some of them a turn: a turn's are all read before the first is used, so that
// as many loads are under way at once. Thread t of a block has elements t, t + threads, ... and uses them in that
// order, however many it takes a turn.

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
