// Tells the address sanitizer which stack is in use; nothing in other builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)  // g++ says so
#define TALLY_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // clang
#define TALLY_ADDRESS_SANITIZER
#endif
#endif

#ifdef TALLY_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tally::executor {

#ifdef TALLY_ADDRESS_SANITIZER

struct SanitizedStack {
  const void* bottom = nullptr;  // unknown for the stack the program came with, until the first switch away from it
  std::size_t bytes = 0;
  void* fake_stack = nullptr;

  void start(const void* stack, std::size_t size) {
    ASAN_UNPOISON_MEMORY_REGION(stack, size);  // what dropped frames left
    *this = {stack, size, nullptr};
  }
  void before_switch(const SanitizedStack& to) { __sanitizer_start_switch_fiber(&fake_stack, to.bottom, to.bytes); }
  void after_switch() { __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr); }
  /// First thing on a new stack; `home` is where the first of them was entered from.
  static void entered(SanitizedStack& home) {
    const void* from = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &from, &size);
    if (home.bottom == nullptr) home.bottom = from, home.bytes = size;
  }
};

#else

struct SanitizedStack {
  void start(const void*, std::size_t) {}
  void before_switch(const SanitizedStack&) {}
  void after_switch() {}
  static void entered(SanitizedStack&) {}
};

#endif

}  // namespace tally::executor
