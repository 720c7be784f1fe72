// Barriers and warp collectives. The executor notes where each thread called, and reports by that line.
#pragma once

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "kernels/device/executor/waiting.hpp"

namespace tally {
inline namespace TALLY_SIDE {

using CallSite = std::source_location;

#ifdef TALLY_CHECKED  // its hooks stay out of the executor
#define TALLY_WAITING inline
inline void wait_for_block(CallSite at) { executor::wait_at_barrier(at); }
inline std::uint64_t wait_for_warp(const executor::Contribution& mine, CallSite at) {
  return executor::exchange(mine, at);
}
#else
#define TALLY_WAITING TALLY_INLINED
TALLY_WAITING void wait_for_block(CallSite at) { executor::wait_at_barrier_inlined(at); }
TALLY_WAITING std::uint64_t wait_for_warp(const executor::Contribution& mine, CallSite at) {
  return executor::exchange_inlined(mine, at);
}
#endif

TALLY_WAITING void __syncthreads(CallSite at = CallSite::current()) { wait_for_block(at); }

TALLY_WAITING void __syncwarp(unsigned mask = 0xffffffffu, CallSite at = CallSite::current()) {
  wait_for_warp({executor::Collective::sync, mask, 0, 0, 32}, at);
}

/// Moves up to eight bytes between lanes. From a lane that takes no part comes poison, not the lane's value.
template <class T>
TALLY_WAITING T shuffle(executor::Collective collective, unsigned mask, T value, int operand, int width, CallSite at) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = wait_for_warp({collective, mask, bits, operand, width}, at);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
TALLY_WAITING T __shfl_sync(unsigned mask, T value, int lane, int width = 32, CallSite at = CallSite::current()) {
  return shuffle(executor::Collective::shuffle, mask, value, lane, width, at);
}
template <class T>
TALLY_WAITING T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32,
                               CallSite at = CallSite::current()) {
  return shuffle(executor::Collective::shuffle_up, mask, value, static_cast<int>(distance), width, at);
}
template <class T>
TALLY_WAITING T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32,
                                 CallSite at = CallSite::current()) {
  return shuffle(executor::Collective::shuffle_down, mask, value, static_cast<int>(distance), width, at);
}
template <class T>
TALLY_WAITING T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, CallSite at = CallSite::current()) {
  return shuffle(executor::Collective::shuffle_xor, mask, value, bits, width, at);
}

TALLY_WAITING unsigned __ballot_sync(unsigned mask, int predicate, CallSite at = CallSite::current()) {
  return static_cast<unsigned>(wait_for_warp({executor::Collective::ballot, mask, predicate != 0, 0, 32}, at));
}
TALLY_WAITING int __any_sync(unsigned mask, int predicate, CallSite at = CallSite::current()) {
  return static_cast<int>(wait_for_warp({executor::Collective::any, mask, predicate != 0, 0, 32}, at));
}
TALLY_WAITING int __all_sync(unsigned mask, int predicate, CallSite at = CallSite::current()) {
  return static_cast<int>(wait_for_warp({executor::Collective::all, mask, predicate != 0, 0, 32}, at));
}

/// The calling lane alone. A device may answer so too, since lanes are scheduled one by one: a kernel that takes this
/// for "the lanes that came along this branch" is wrong, and fails here.
inline unsigned __activemask() { return 1u << executor::lane_of_caller(); }

}  // namespace TALLY_SIDE
}  // namespace tally
