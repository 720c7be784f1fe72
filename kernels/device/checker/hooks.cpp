// What clang's thread sanitizer calls before every access of code that it compiled. No sanitizer is linked: these take
// its place.
#include <cstring>

#include "kernels/device/checker/access.hpp"

using tally::checker::Access;
using tally::checker::check;

#define TALLY_HOOK(name, access, bytes) \
  void name(void* address) { check(access, address, bytes, __builtin_return_address(0)); }
#define TALLY_HOOKS(bytes)                                      \
  TALLY_HOOK(__tsan_read##bytes, Access::read, bytes)           \
  TALLY_HOOK(__tsan_write##bytes, Access::write, bytes)         \
  TALLY_HOOK(__tsan_unaligned_read##bytes, Access::read, bytes) \
  TALLY_HOOK(__tsan_unaligned_write##bytes, Access::write, bytes)

extern "C" {

TALLY_HOOKS(1)
TALLY_HOOKS(2)
TALLY_HOOKS(4)
TALLY_HOOKS(8)
TALLY_HOOKS(16)

void __tsan_init() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}

void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) {
    check(Access::read, from, bytes, __builtin_return_address(0));
    check(Access::write, to, bytes, __builtin_return_address(0));
  }
  return std::memcpy(to, from, bytes);
}

void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) {
    check(Access::read, from, bytes, __builtin_return_address(0));
    check(Access::write, to, bytes, __builtin_return_address(0));
  }
  return std::memmove(to, from, bytes);
}

void* __tsan_memset(void* to, int byte, std::size_t bytes) {
  if (bytes > 0) check(Access::write, to, bytes, __builtin_return_address(0));
  return std::memset(to, byte, bytes);
}

/// An atomic of a checked kernel, which is about to happen unobserved.
void tally_check_atomic(void* address, std::size_t bytes, const void* code) {
  check(Access::atomic, address, bytes, code);
}
}
