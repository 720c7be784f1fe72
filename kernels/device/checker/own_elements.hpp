// The short way for what most kernels do: thread n of the launch, counted through its blocks in order, touches element
// n + c of a buffer, or n + c + k times the number of threads, and no other thread does. Such accesses cannot race;
// they are noted, each in one word, and only if some access of the launch goes elsewhere do they become shadow cells
// (kernels/device/checker/shadow.hpp), as if they had been all along.
//
// It applies where threads run in order, no other stream's launch is to be held against this one, and the block has not
// yet synchronised in any way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/checker/access.hpp"
#include "kernels/device/checker/order.hpp"
#include "kernels/device/checker/shadow.hpp"

namespace tally::checker {

/// Notes the access if it is of the thread's own element, in a launch and buffer where that is known to be so. False:
/// the long way.
template <Access access, std::size_t bytes>
inline __attribute__((always_inline)) bool note_own_element(std::uintptr_t address, std::uint32_t code) {
  static_assert(access != Access::atomic);
  const std::uintptr_t offset = address - memory.begin;
  if (offset >= memory.bytes) return false;
  const OwnElements& own = own_elements[owners[offset / line_bytes]];
  const std::uintptr_t inside = address - own.begin;
  if (own.launch != (running.noting | bytes) || inside - running.position * bytes != own.shift) return false;
  if (inside + bytes > own.bytes) [[unlikely]]
    return false;
  (access == Access::read ? own.reads : own.writes)[inside / bytes] = running.noting | code;
  return true;
}

/// The slow part of what follows.
bool begin_noting(Access access, std::uintptr_t address, std::size_t bytes, std::uint32_t code);

/// The same after note_own_element said false: sees whether this access of a launch is the buffer's first, or in a
/// later round of the threads. False: it has to be checked by cells, which from now on know of all that was noted.
inline bool note_other_element(Access access, std::uintptr_t address, std::size_t bytes, std::uint32_t code) {
  const OwnElements& own = own_elements[owners[(address - memory.begin) / line_bytes]];
  return own.by_cells != std::uint64_t{running.first_block} << 32 && begin_noting(access, address, bytes, code);
}

}  // namespace tally::checker
