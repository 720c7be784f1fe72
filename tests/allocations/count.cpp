#include "tests/allocations/count.hpp"

#include <cstdlib>
#include <new>

namespace {
std::size_t taken = 0;
}

namespace tally {
std::size_t allocations_so_far() { return taken; }
}  // namespace tally

void* operator new(std::size_t bytes) {
  ++taken;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
