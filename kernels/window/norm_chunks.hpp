// What the norms over all parameters share: the three kinds of norm, and the sum over a thread's elements of its
// block's chunk (kernels/window/tensor_chunks.hpp). How a block and the chunks come together is each norm's own.
#pragma once

#include <span>

#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "kernels/window/tensor_chunks.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {
inline namespace TALLY_SIDE {

struct SumOfSquares {
  static __device__ float term(float g) { return __fmul_rn(g, g); }
  __device__ float operator()(float a, float b) const { return __fadd_rn(a, b); }
  static __device__ float finish(float sum) { return __fsqrt_rn(sum); }
};

/// A rank's share of the 2-norm of all.
struct SquaresAlone : SumOfSquares {
  static __device__ float finish(float sum) { return sum; }
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

/// The order of a norm's sum where chunks meet as `second_stage` says, for the claim of its kernel: a block of at most
/// 256 threads reads a chunk, thread t adding elements t, t + threads, ... in order, and the threads' sums meet in a
/// tree. A smaller block has a thread for every element of a tensor, and as many levels.
inline OrderOfSum norm_additions(const OrderOfSum& second_stage) {
  OrderOfSum order{{SumStep::chunks, norm_chunk}, {SumStep::lanes, threads_a_chunk}, {SumStep::tree}, {SumStep::meet}};
  order.insert(order.end(), second_stage.begin(), second_stage.end());
  return order;
}

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

/// Calls `use.operator()<Reduction>()`; of every kind while ways are declared.
template <class Use>
void by_norm_kind(NormKind kind, Use use) {
  const auto with = [&]<class Reduction>(NormKind of, std::string_view name, Reduction) {
    if (kind != of && !declaring_paths()) return;
    const LaunchPart part(name);
    use.template operator()<Reduction>();
  };
  with(NormKind::one, "1-norm", SumOfMagnitudes{});
  with(NormKind::two, "2-norm", SumOfSquares{});
  with(NormKind::squares, "squares", SquaresAlone{});
  with(NormKind::infinity, "inf-norm", LargestMagnitude{});
}

}  // namespace TALLY_SIDE
}  // namespace tally
