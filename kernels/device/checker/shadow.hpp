// The checked device's memory and its shadow: who touched each few bytes last, in buffers and in a block's shared
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/device/checker/order.hpp"

namespace tally::checker {

// The shadow of a few bytes: who touched them last, and how.

/// The accesses that a cell remembers. Two readers, neither known to have happened before the other, are enough to see
/// nearly every race.
struct alignas(64) Cell {
  Stamp write, atomic, read[2];
};

/// A stretch of memory with its shadow: one cell for 1 << shift bytes, fewer once something smaller was touched.
struct Shadowed {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  Cell* cells = nullptr;  // room for one a byte
  unsigned shift = 2;
};

/// From now on one cell for 1 << shift bytes of the first `used` bytes.
void split_cells(Shadowed& memory, unsigned shift, std::size_t used);

// The checked device's memory: one reserved range, so that an address tells its buffer and its shadow by arithmetic.

inline constexpr std::size_t line_bytes = 256;  // memory is handed out by such lines
inline constexpr std::size_t memory_bytes = std::size_t{1} << 30;

struct Range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool has(std::uintptr_t address) const { return address - begin < bytes; }
};
/// All there is; empty until the first allocation.
inline constinit Range memory{};
/// By line: whose it is, 0 for nobody's; and all buffers, which stay where they are.
inline constinit std::uint32_t* owners = nullptr;
inline constinit Shadowed* buffers = nullptr;

/// What a launch's threads did to elements of their own in a buffer, for kernels/device/checker/own_elements.hpp. All
/// zero: no buffer.
struct alignas(64) OwnElements {
  std::uintptr_t begin = 0;  // the buffer's
  std::size_t bytes = 0;
  std::uint64_t launch = 0;                           // that this is about: its first block << 32 | bytes of an element
  std::uint64_t by_cells = 0;                         // that gave it up: its first block << 32
  std::uintptr_t shift = 0;                           // where in the buffer the element of the launch's thread 0 lies
  std::uint64_t *reads = nullptr, *writes = nullptr;  // by element: a launch << 32 | the code of its last access
};
inline constinit OwnElements* own_elements = nullptr;  // by owner

/// Throws std::bad_alloc. Never nullptr, also for 0 bytes.
void* allocate(std::size_t bytes);
void release(void* address) noexcept;

/// A buffer, as kernels may use it: without its guard zones.
void note_buffer(const void* data, std::size_t bytes, const std::string& name);

/// The buffer that owns the line an address lies in, guard zones included; nullptr when none does. The address may lie
/// outside the buffer proper.
inline Shadowed* buffer_near(std::uintptr_t address) {
  const std::uint32_t owner = owners[(address - memory.begin) / line_bytes];
  return owner == 0 ? nullptr : &buffers[owner];
}

/// How long that buffer is; 0 where there is none.
std::size_t bytes_of_buffer(std::uintptr_t address);

/// "buffer 'NAME'+BYTES", also where that lies outside of it; "memory of no buffer".
std::string describe_memory(std::uintptr_t address);

// The shadow of the block's shared memory.

/// The shadow of this operating-system thread's arena; empty until its first checked block.
inline constinit thread_local Shadowed shared_shadow{};

/// A new block: what was declared is forgotten.
void begin_shared_shadow();
void note_shared(std::size_t begin, std::size_t bytes, const char* name);

/// Bytes of the arena that were declared in this block.
std::size_t shared_bytes_used();

/// "shared 'NAME'+BYTES".
std::string describe_shared(std::uintptr_t address);

}  // namespace tally::checker
