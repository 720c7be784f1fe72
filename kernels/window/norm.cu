// The norm over all parameters: in two stages that reduce by shuffles, in shared memory or by cooperative groups, and
// by atomics.
#include "kernels/device/cooperative_groups.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/reduction/block_sum.hpp"
#include "kernels/window/norm_chunks.hpp"

// The norm over all parameters, (clip.1), in two deterministic stages: 2: fl(sqrt(sum fl(g g))), 1: sum |g|, infinity:
// max |g| where a NaN wins.
//
//   sources [tensors][elements] fp32   partial [chunks] fp32   norm [] fp32
//
// Stages and chunks as kernels/window/norm_chunks.hpp; a block reduces by shuffles. No atomics.
namespace tally::norm_kernel {
namespace {

const RegisterKernel registered("norm", {.variant = "two_stage", .additions = two_stage_additions()},
                                launch_two_stage_norm<BlockShuffles>);

}  // namespace
}  // namespace tally::norm_kernel

// The norm over all parameters, (clip.1), in two deterministic stages, of the three kinds of kernels/window/norm.cu.
//
//   sources [tensors][elements] fp32   partial [chunks] fp32   norm [] fp32
//
// Stages and chunks as kernels/window/norm_chunks.hpp; a block reduces by a tree in shared memory, where thread t
// takes in t + ceil(n/2) of the n values left. No shuffles, no atomics.
namespace tally::norm_shared_tree_kernel {
namespace {

constexpr int most_threads = 256;

struct SharedTree {
  template <class Combine>
  static __device__ float reduce(float value, Combine combine) {
    TALLY_SHARED(float, values, most_threads);
    values[threadIdx.x] = value;
    __syncthreads();
    for (unsigned left = blockDim.x; left > 1;) {
      const unsigned half = (left + 1) / 2;
      if (threadIdx.x < left - half) values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
      __syncthreads();
      left = half;
    }
    return values[0];
  }
};

const RegisterKernel registered("norm", {.variant = "shared_tree", .additions = two_stage_additions()},
                                launch_two_stage_norm<SharedTree>, KernelUse::when_named);

}  // namespace
}  // namespace tally::norm_shared_tree_kernel

// The norm over all parameters, (clip.1), in two deterministic stages, of the three kinds of kernels/window/norm.cu.
//
//   sources [tensors][elements] fp32   partial [chunks] fp32   norm [] fp32
//
// Stages and chunks as kernels/window/norm_chunks.hpp; a block reduces by cooperative groups: tiles of 16 lanes by
// shuffles down, then the tiles' results in the first tile. Blocks are whole warps, at most 256 threads. No atomics.
namespace tally::norm_tiled_partition_kernel {
namespace {

namespace groups = cooperative_groups;

constexpr unsigned tile_size = 16, most_tiles = 16;

/// In the tile's first thread: the values of a tile, neighbours last.
template <class Combine>
__device__ float tile_result(const groups::thread_block_tile<tile_size>& tile, float value, Combine combine) {
  for (unsigned distance = tile_size / 2; distance > 0; distance /= 2) {
    value = combine(value, tile.shfl_down(value, distance));
  }
  return value;
}

struct Tiles {
  template <class Combine>
  static __device__ float reduce(float value, Combine combine) {
    TALLY_SHARED(float, partial, most_tiles);
    const groups::thread_block block = groups::this_thread_block();
    const auto tile = groups::tiled_partition<tile_size>(block);
    value = tile_result(tile, value, combine);
    if (tile.thread_rank() == 0) partial[tile.meta_group_rank()] = value;
    block.sync();
    if (tile.meta_group_rank() > 0) return value;
    value = tile.thread_rank() < tile.meta_group_size() ? partial[tile.thread_rank()] : 0.0f;
    return tile_result(tile, value, combine);
  }
};

const RegisterKernel registered("norm", {.variant = "tiled_partition", .additions = two_stage_additions()},
                                launch_two_stage_norm<Tiles>, KernelUse::when_named);

}  // namespace
}  // namespace tally::norm_tiled_partition_kernel

// The norm over all parameters, (clip.1), by atomics, of the three kinds of kernels/window/norm.cu.
//
//   sources [tensors][elements] fp32   norm [] fp32
//
// One block a chunk (kernels/window/norm_chunks.hpp), reduced by shuffles (kernels/reduction/block_sum.hpp) and added
// to the norm by one atomicAdd: chunks in whatever order their blocks end, so two runs may differ in bits, and
// subnormal sums are flushed. The largest magnitude is taken on the bits of the number, which grow with it and are
// largest for NaN: exact in every order. Then one thread finishes.
namespace tally::norm_atomic_add_kernel {
namespace {

template <class Reduction>
__device__ void combine_into(float* norm, float value) {
  atomicAdd(norm, value);
}
template <>
__device__ void combine_into<LargestMagnitude>(float* norm, float value) {
  atomicMax(reinterpret_cast<unsigned*>(norm), __float_as_uint(value) & 0x7fffffffu);
}

__global__ void clear(float* norm) { *norm = 0.0f; }

template <class Reduction>
__global__ void add_chunk(NormChunks chunks, float* norm) {
  TALLY_SHARED(float, partial, most_warps);
  const float value = block_result(thread_value<Reduction>(chunks), 0.0f, Reduction{}, partial);
  if (threadIdx.x == 0) combine_into<Reduction>(norm, value);
}

template <class Reduction>
__global__ void finish(float* norm) {
  *norm = Reduction::finish(*norm);
}

void norm(Stream& stream, const NormArguments& a) {
  by_norm_kind(a.kind, [&]<class Reduction>() {
    launch<clear>(stream, {1, 1}, a.norm);
    for_each_launch(a.sources, [&](const NormChunks& of_batch, const TensorBatch& batch) {
      launch<add_chunk<Reduction>>(stream, shape_of(batch), of_batch, a.norm);
    });
    launch<finish<Reduction>>(stream, {1, 1}, a.norm);
  });
}

const RegisterKernel registered("norm",
                                {.variant = "atomic_add",
                                 .repeats = Repeats::within_claim,
                                 .global_float_atomics = true,
                                 .additions = norm_additions({})},
                                norm, KernelUse::when_named);

}  // namespace
}  // namespace tally::norm_atomic_add_kernel
