// What the norms over all parameters share: the three kinds of norm, and the sum over a thread's elements of its
// block's chunk (kernels/window/tensor_chunks.hpp). How a block and the chunks come together is each norm's own.
#pragma once

#include <span>

#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "kernels/window/tensor_chunks.hpp"

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

/// The gradients of one launch.
struct NormChunks {
  TensorChunks table;
  const float* values[tensors_a_launch];
};

/// What this thread's elements of its block's chunk come to.
template <class Reduction>
__device__ inline float thread_value(const NormChunks& chunks) {
  const ChunkRange range = chunks.table.range(blockIdx.x);
  const Reduction combine;
  float value = 0.0f;
  for (std::int64_t i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) {
    value = combine(value, Reduction::term(chunks.values[range.tensor][i]));
  }
  return value;
}

/// Calls `use(chunks, batch)` for every launch. Returns the chunks of all.
template <class Use>
std::int64_t for_each_launch(std::span<const NormSource> sources, Use use) {
  const auto elements_of = [&](std::size_t i) { return sources[i].elements; };
  return for_each_batch(sources.size(), elements_of, [&](const TensorBatch& batch) {
    NormChunks chunks{batch.table, {}};
    for (int i = 0; i < batch.table.tensors; ++i) {
      const auto at = static_cast<std::size_t>(i);
      chunks.values[at] = sources[batch.which[at]].values;
    }
    use(chunks, batch);
  });
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
