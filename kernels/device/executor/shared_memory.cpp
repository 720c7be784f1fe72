#include "kernels/device/executor/shared_memory.hpp"

#include <cstring>
#include <memory>
#include <string>

#include "kernels/device/checker/shadow.hpp"
#include "kernels/device/executor/launch.hpp"
#include "kernels/device/executor/state.hpp"

namespace tally::executor {
namespace {

constexpr std::size_t alignment = 16;
constexpr int poison = 0xff;  // a NaN in every floating-point format

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

struct alignas(alignment) Arena {
  std::byte bytes[shared_memory_limit];
};

}  // namespace

void begin_shared_memory(std::size_t dynamic_bytes) {
  static thread_local const std::unique_ptr<Arena> arena = std::make_unique<Arena>();
  static thread_local std::uint64_t blocks = 0;
  shared_memory = {arena->bytes, aligned(dynamic_bytes), dynamic_bytes, ++blocks};
  std::memset(arena->bytes, poison, dynamic_bytes);
}

void end_shared_memory() { shared_memory = {}; }

void* take_shared(std::size_t bytes, const char* name) {
  if (bytes > shared_memory_limit - shared_memory.used) {
    throw ExecutorFinding(place() + ": shared array '" + name + "' of " + std::to_string(bytes) +
                          " bytes exceeds the block's " + std::to_string(shared_memory_limit) + " bytes");
  }
  std::byte* address = shared_memory.arena + shared_memory.used;
  shared_memory.used += aligned(bytes);
  std::memset(address, poison, bytes);
  if (state().launch->checked)
    checker::note_shared(static_cast<std::size_t>(address - shared_memory.arena), bytes, name);
  return address;
}

void fail_shared_index(const char* name, std::int64_t index, std::size_t size) {
  track();
  throw ExecutorFinding(place() + ", " + describe_thread(state().thread) + ": index " + std::to_string(index) +
                        " of shared array '" + name + "', which has " + std::to_string(size) + " elements");
}

}  // namespace tally::executor
