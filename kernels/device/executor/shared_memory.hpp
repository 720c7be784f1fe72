// A block's shared memory on the host: one arena a thread of the operating system. The dynamic part comes first, then
// the arrays that the kernel declares, in the order in which the block's first thread meets them. Poisoned for every
// block.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::executor {

/// What a device offers one block (227 KiB, compute capability 9.0).
inline constexpr std::size_t shared_memory_limit = 232448;

struct SharedMemory {
  std::byte* arena = nullptr;
  std::size_t used = 0, dynamic_bytes = 0;
  std::uint64_t block = 0;  // counts blocks; 0: no block is running
};
inline constinit thread_local SharedMemory shared_memory{};

/// One declaration's place in the arena; belongs to block number `block`.
struct SharedSlot {
  std::uint64_t block = 0;
  void* address = nullptr;
};

/// Takes poisoned memory from the arena. Throws ExecutorFinding beyond the limit.
void* take_shared(std::size_t bytes, const char* name);

inline void* shared_address(SharedSlot& slot, std::size_t bytes, const char* name) {
  if (slot.block != shared_memory.block) slot = {shared_memory.block, take_shared(bytes, name)};
  return slot.address;
}

inline bool is_shared(const void* address) {
  const auto* byte = static_cast<const std::byte*>(address);
  return shared_memory.arena != nullptr && byte >= shared_memory.arena &&
         byte < shared_memory.arena + shared_memory_limit;
}

/// Throws ExecutorFinding naming the array and the thread.
[[noreturn]] void fail_shared_index(const char* name, std::int64_t index, std::size_t size);

/// A new block: poisons the dynamic part and forgets every declaration of the last block.
void begin_shared_memory(std::size_t dynamic_bytes);
/// No block is running.
void end_shared_memory();

}  // namespace tally::executor
