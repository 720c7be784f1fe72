// Cooperative groups on the host: a group is a mask of lanes, or the block, and its words are those of
// kernels/device/host/synchronise.hpp with that mask. Tiles are made by every thread of the block alike.
#pragma once

#include "kernels/device/host/indices.hpp"
#include "kernels/device/host/synchronise.hpp"

namespace tally {
inline namespace TALLY_SIDE {
namespace cooperative_groups {

/// The block. Threads are ranked by x, then y, then z.
class thread_block {
 public:
  TALLY_WAITING static void sync(CallSite at = CallSite::current()) { wait_for_block(at); }
  static unsigned thread_rank() {
    const uint3 at = threadIdx, size = blockDim;
    return at.x + size.x * (at.y + size.y * at.z);
  }
  static unsigned num_threads() {
    const uint3 size = blockDim;
    return size.x * size.y * size.z;
  }
  static unsigned size() { return num_threads(); }
  static uint3 thread_index() { return threadIdx; }
  static uint3 group_index() { return blockIdx; }
  static dim3 group_dim() {
    const uint3 size = blockDim;
    return {size.x, size.y, size.z};
  }
};

inline thread_block this_thread_block() { return {}; }
TALLY_WAITING void sync(const thread_block&, CallSite at = CallSite::current()) { wait_for_block(at); }

/// Neighbouring lanes of a warp. Shuffles take ranks within the tile; where the source lies outside of it, the thread's
/// own value comes back.
template <unsigned tile_size>
class thread_block_tile {
  static_assert(tile_size >= 1 && tile_size <= 32 && (tile_size & (tile_size - 1)) == 0);

 public:
  static constexpr unsigned size() { return tile_size; }
  static constexpr unsigned num_threads() { return tile_size; }
  unsigned thread_rank() const { return rank_ % tile_size; }
  /// Which tile of the block, and of how many.
  unsigned meta_group_rank() const { return rank_ / tile_size; }
  unsigned meta_group_size() const { return (thread_block::num_threads() + tile_size - 1) / tile_size; }

  void sync(CallSite at = CallSite::current()) const { __syncwarp(mask(), at); }
  template <class T>
  T shfl(T value, unsigned rank, CallSite at = CallSite::current()) const {
    return __shfl_sync(mask(), value, static_cast<int>(rank), width, at);
  }
  template <class T>
  T shfl_up(T value, unsigned distance, CallSite at = CallSite::current()) const {
    return __shfl_up_sync(mask(), value, distance, width, at);
  }
  template <class T>
  T shfl_down(T value, unsigned distance, CallSite at = CallSite::current()) const {
    return __shfl_down_sync(mask(), value, distance, width, at);
  }
  template <class T>
  T shfl_xor(T value, unsigned bits, CallSite at = CallSite::current()) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(bits), width, at);
  }
  int any(int predicate, CallSite at = CallSite::current()) const { return __any_sync(mask(), predicate, at); }
  int all(int predicate, CallSite at = CallSite::current()) const { return __all_sync(mask(), predicate, at); }
  /// Bit r: the predicate of rank r.
  unsigned ballot(int predicate, CallSite at = CallSite::current()) const {
    return __ballot_sync(mask(), predicate, at) >> first_lane();
  }

 private:
  template <unsigned size, class Group>
  friend thread_block_tile<size> tiled_partition(const Group& group);

  static constexpr int width = tile_size;
  explicit thread_block_tile(unsigned rank) : rank_(rank) {}
  unsigned first_lane() const { return rank_ % 32 / tile_size * tile_size; }
  unsigned mask() const { return (0xffffffffu >> (32 - tile_size)) << first_lane(); }

  unsigned rank_;  // in the block
};

/// The thread's tile of the block, or of a larger tile.
template <unsigned tile_size, class Group>
thread_block_tile<tile_size> tiled_partition(const Group&) {
  return thread_block_tile<tile_size>(thread_block::thread_rank());
}

}  // namespace cooperative_groups
}  // namespace TALLY_SIDE
}  // namespace tally
