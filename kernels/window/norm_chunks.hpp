// What the norms over all parameters share: the kinds of norm, a chunk's part of it, and two stages that put the parts
// together.
#pragma once

#include <span>

#include "kernels/elementwise.hpp"
#include "kernels/reduction/block_sum.hpp"
#include "kernels/window/arguments.hpp"
#include "kernels/window/tensor_chunks.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {
inline namespace TALLY_SIDE {

// What the norms over all parameters share: the three kinds of norm, and the sum over a thread's elements of its
// block's chunk (kernels/window/tensor_chunks.hpp). How a block and the chunks come together is each norm's own.

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

// The norm over all parameters in two deterministic stages, with the reduction of a block left open: first one block a
// chunk (kernels/window/norm_chunks.hpp), then one block over all chunks in the same way. The order depends on the
// sizes alone. `Block::reduce(value, combine)` gives a block's result in thread 0; 0 must be neutral to `combine`.

template <class Reduction, class Block>
__global__ void reduce_chunk(NormChunks chunks, float* partial) {
  const float value = Block::reduce(thread_value<Reduction>(chunks), Reduction{});
  if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

template <class Reduction, class Block>
__global__ void reduce_partials(const float* partial, std::int64_t chunks, float* norm) {
  const Reduction combine;
  float value = 0.0f;
  const auto read = [&](std::int64_t i) { return partial[i]; };
  for_own_elements<16>(chunks, read, [&](std::int64_t, float of_chunk) { value = combine(value, of_chunk); });
  value = Block::reduce(value, combine);
  if (threadIdx.x == 0) *norm = Reduction::finish(value);
}

/// The second stage.
template <class Reduction, class Block>
void launch_partials(Stream& stream, const float* partial, std::int64_t chunks, float* norm) {
  const auto threads = static_cast<unsigned>(std::clamp<std::int64_t>((chunks + 31) / 32 * 32, 32, 256));
  take_way(
      {{"partial results in one stride", chunks <= threads}, {"partial results in several strides", chunks > threads}});
  launch<reduce_partials<Reduction, Block>>(stream, {1, threads}, partial, chunks, norm);
}

/// The order of both stages: the second is one block's over the chunks' results.
inline OrderOfSum two_stage_additions() { return norm_additions({{SumStep::lanes, threads_a_chunk}, {SumStep::tree}}); }

template <class Block>
void launch_two_stage_norm(Stream& stream, const NormArguments& a) {
  by_norm_kind(a.kind, [&]<class Reduction>() {
    const std::int64_t chunks = for_each_launch(a.sources, [&](const NormChunks& of_batch, const TensorBatch& batch) {
      launch<reduce_chunk<Reduction, Block>>(stream, shape_of(batch), of_batch, a.partial + batch.done);
    });
    launch_partials<Reduction, Block>(stream, a.partial, chunks, a.norm);
  });
}

// A block's part of a norm by shuffles in each warp, then over the warps (kernels/reduction/block_sum.hpp).

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
