#include "kernels/device/executor/fibre.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

namespace tally::executor {
namespace {

// The lowest bytes above the page that cannot be touched hold a pattern.
constexpr std::size_t canary_bytes = 1024, colours = 16, line_bytes = 64;
constexpr std::uint64_t canary = 0x5ca1ab1eca5cadedull;

std::span<std::uint64_t> canary_of(std::byte* mapping) {
  return {reinterpret_cast<std::uint64_t*>(mapping + page_bytes), canary_bytes / sizeof canary};
}

}  // namespace

Fibre::Fibre(unsigned number, void (*entry)()) : number_(number), entry_(entry) {
  void* memory = mmap(nullptr, page_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(memory);
  mprotect(mapping_, page_bytes, PROT_NONE);
  repair_stack();
  restart();
}

Fibre::~Fibre() { munmap(mapping_, page_bytes + stack_bytes); }

void Fibre::restart() {
  const std::size_t colour = number_ % colours * line_bytes * 3;
  start_context(context, mapping_ + page_bytes, stack_bytes - colour, entry_);
}

bool Fibre::stack_intact() const {
  return std::ranges::all_of(canary_of(mapping_), [](std::uint64_t word) { return word == canary; });
}

void Fibre::repair_stack() { std::ranges::fill(canary_of(mapping_), canary); }

}  // namespace tally::executor
