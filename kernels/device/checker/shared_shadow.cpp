#include "kernels/device/checker/shared_shadow.hpp"

#include <sys/mman.h>

#include <memory>
#include <new>
#include <vector>

#include "kernels/device/executor/shared_memory.hpp"

namespace tally::checker {
namespace {

struct Declared {
  std::size_t begin, bytes;
  const char* name;
};

std::vector<Declared>& declared() {
  static thread_local std::vector<Declared> all;
  return all;
}

Cell* reserve_cells() {
  void* address = mmap(nullptr, executor::shared_memory_limit * sizeof(Cell), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Cell*>(address);
}

}  // namespace

void begin_shared_shadow() {
  static thread_local Cell* const cells = reserve_cells();
  const executor::SharedMemory& memory = executor::shared_memory;
  const unsigned shift = shared_shadow.cells == nullptr ? 2 : shared_shadow.shift;
  shared_shadow = {reinterpret_cast<std::uintptr_t>(memory.arena), executor::shared_memory_limit, cells, shift};
  declared().clear();
  if (memory.dynamic_bytes > 0) declared().push_back({0, memory.dynamic_bytes, "dynamic"});
}

void note_shared(std::size_t begin, std::size_t bytes, const char* name) { declared().push_back({begin, bytes, name}); }

std::size_t shared_bytes_used() { return executor::shared_memory.used; }

std::string describe_shared(std::uintptr_t address) {
  const std::size_t at = address - shared_shadow.begin;
  for (const Declared& it : declared()) {
    if (at - it.begin < it.bytes) return "shared '" + std::string(it.name) + "'+" + std::to_string(at - it.begin);
  }
  return "shared memory of no name, byte " + std::to_string(at);
}

}  // namespace tally::checker
