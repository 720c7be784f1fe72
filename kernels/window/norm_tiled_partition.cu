// The norm over all parameters, (clip.1), in two deterministic stages, of the three kinds of kernels/window/norm.cu.
//
//   sources [tensors][elements] fp32   partial [chunks] fp32   norm [] fp32
//
// Stages and chunks as kernels/window/two_stage_norm.hpp; a block reduces by cooperative groups: tiles of 16 lanes by
// shuffles down, then the tiles' results in the first tile. Blocks are whole warps, at most 256 threads. No atomics.
#include "kernels/device/cooperative_groups.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/window/two_stage_norm.hpp"

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
