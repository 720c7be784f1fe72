// What the norms over all parameters share: the three kinds of norm, and the tensors cut into chunks of 4096 elements,
// up to 24 tensors a launch and one block a chunk. Thread t of a block takes elements t, t + threads, ... of its chunk
// in order; how a block and the chunks come together is each norm's own.
#pragma once

#include <algorithm>

#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
inline namespace TALLY_SIDE {

struct SumOfSquares {
  static __device__ float term(float g) { return __fmul_rn(g, g); }
  __device__ float operator()(float a, float b) const { return __fadd_rn(a, b); }
  static __device__ float finish(float sum) { return __fsqrt_rn(sum); }
};

struct SumOfMagnitudes {
  static __device__ float term(float g) { return fabsf(g); }
  __device__ float operator()(float a, float b) const { return __fadd_rn(a, b); }
  static __device__ float finish(float sum) { return sum; }
};

/// A NaN wins.
struct LargestMagnitude {
  static __device__ float term(float g) { return fabsf(g); }
  __device__ float operator()(float a, float b) const { return a != a || a > b ? a : b; }
  static __device__ float finish(float largest) { return largest; }
};

inline constexpr int norm_tensors_a_launch = 24;

/// The tensors of one launch; chunks are numbered through them, `first_chunk[i]` being tensor i's first.
struct NormChunks {
  const float* values[norm_tensors_a_launch];
  std::int64_t elements[norm_tensors_a_launch];
  std::int64_t first_chunk[norm_tensors_a_launch];
  int tensors;
};

/// What this thread's elements of its block's chunk come to.
template <class Reduction>
__device__ inline float thread_value(const NormChunks& chunks) {
  const std::int64_t chunk = blockIdx.x;
  int tensor = 0;
  while (tensor + 1 < chunks.tensors && chunks.first_chunk[tensor + 1] <= chunk) ++tensor;
  const std::int64_t begin = (chunk - chunks.first_chunk[tensor]) * norm_chunk;
  const std::int64_t left = chunks.elements[tensor] - begin;
  const std::int64_t end = begin + (left < norm_chunk ? left : norm_chunk);
  const Reduction combine;
  float value = 0.0f;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    value = combine(value, Reduction::term(chunks.values[tensor][i]));
  }
  return value;
}

/// Whole warps, no more than there is work for, at most 256 threads.
inline unsigned norm_threads(std::int64_t elements) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((elements + 31) / 32 * 32, 32, 256));
}

/// Calls `use(chunks, shape, done)` for every launch, `done` being the chunks of the launches before. Returns the
/// chunks of all. Empty tensors have none.
template <class Use>
std::int64_t for_each_launch(std::span<const NormSource> sources, Use use) {
  std::int64_t done = 0;
  for (std::size_t next = 0; next < sources.size();) {
    NormChunks batch{};
    std::int64_t chunks = 0, largest = 0;
    for (; next < sources.size() && batch.tensors < norm_tensors_a_launch; ++next) {
      const NormSource& source = sources[next];
      if (source.elements == 0) continue;
      batch.values[batch.tensors] = source.values;
      batch.elements[batch.tensors] = source.elements;
      batch.first_chunk[batch.tensors++] = chunks;
      chunks += (source.elements + norm_chunk - 1) / norm_chunk;
      largest = std::max(largest, source.elements);
    }
    if (chunks == 0) continue;
    use(batch, LaunchShape{static_cast<unsigned>(chunks), norm_threads(largest)}, done);
    done += chunks;
  }
  return done;
}

/// Calls `use.operator()<Reduction>()`.
template <class Use>
void by_norm_kind(NormKind kind, Use use) {
  switch (kind) {
    case NormKind::one:
      return use.template operator()<SumOfMagnitudes>();
    case NormKind::two:
      return use.template operator()<SumOfSquares>();
    case NormKind::infinity:
      return use.template operator()<LargestMagnitude>();
  }
}

}  // namespace TALLY_SIDE
}  // namespace tally
