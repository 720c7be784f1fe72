#include "kernels/ranks/fibre_stack.hpp"

#include <sys/mman.h>

#include <new>

namespace tally {
namespace {

// A rank builds its run and reads its kernels' results: more than a thread of a kernel has.
constexpr std::size_t page_bytes = 4096, stack_bytes = std::size_t{1} << 20;

}  // namespace

FibreStack::FibreStack(void (*entry)()) {
  void* memory = mmap(nullptr, page_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(memory);
  mprotect(mapping_, page_bytes, PROT_NONE);
  executor::start_context(context, mapping_ + page_bytes, stack_bytes, entry);
}

FibreStack::~FibreStack() { munmap(mapping_, page_bytes + stack_bytes); }

}  // namespace tally
