// The norm over all parameters in two deterministic stages, with the reduction of a block left open: first one block a
// chunk (kernels/window/norm_chunks.hpp), then one block over all chunks in the same way. The order depends on the
// sizes alone. `Block::reduce(value, combine)` gives a block's result in thread 0; 0 must be neutral to `combine`.
#pragma once

#include "kernels/window/chunk_turns.hpp"
#include "kernels/window/norm_chunks.hpp"

namespace tally {
inline namespace TALLY_SIDE {

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

}  // namespace TALLY_SIDE
}  // namespace tally
