#include "kernels/device/executor/fibre.hpp"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <new>

namespace tally::executor {
namespace {

// The lowest bytes above the page that cannot be touched hold a pattern.
constexpr std::size_t canary_bytes = 1024, colours = 16, line_bytes = 64;

constexpr auto canary = [] {
  std::array<std::uint64_t, canary_bytes / sizeof(std::uint64_t)> words{};
  words.fill(0x5ca1ab1eca5cadedull);
  return words;
}();

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

bool Fibre::stack_intact() const { return std::memcmp(mapping_ + page_bytes, canary.data(), sizeof canary) == 0; }

void Fibre::repair_stack() { std::memcpy(mapping_ + page_bytes, canary.data(), sizeof canary); }

}  // namespace tally::executor
