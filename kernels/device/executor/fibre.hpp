// A stack on which a block's threads run, and how one is left for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/device/host/indices.hpp"

// Tells the address sanitizer which stack is in use; nothing in other builds.

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

// Leaving one stack and going on with another.

#if !defined(__x86_64__) || defined(TALLY_UCONTEXT)
#include <ucontext.h>
#endif

namespace tally::executor {

#if defined(__x86_64__) && !defined(TALLY_UCONTEXT)

/// A suspended stack: where it stands, and where its code goes on. Not kept on that stack: one line of the cache less.
struct Context {
  void *stack_pointer = nullptr, *frame_pointer = nullptr, *code = nullptr;
  [[no_unique_address]] SanitizedStack sanitized;
};

/// Makes a context that starts `entry`, which never returns, on the given stack.
inline void start_context(Context& context, std::byte* stack, std::size_t bytes, void (*entry)()) {
  auto* word = reinterpret_cast<std::uintptr_t*>(reinterpret_cast<std::uintptr_t>(stack + bytes) & ~std::uintptr_t{15});
  *--word = 0;  // where entry would return to: the end of every back trace
  context.stack_pointer = word;
  context.frame_pointer = nullptr;
  context.code = reinterpret_cast<void*>(entry);
  context.sanitized.start(stack, bytes);
}

/// Saves what the compiler expects to survive, and nothing else: it is told that every other register is lost. Nothing
/// is pushed, so a red zone below the stack pointer stays as it is.
inline __attribute__((always_inline)) void jump_between(Context* save, Context* load) {
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %%rbp, 8(%0)\n\t"
      "movq %%rax, 16(%0)\n\t"
      "movq (%1), %%rsp\n\t"
      "movq 8(%1), %%rbp\n\t"
      "jmpq *16(%1)\n"
      "1:"
      : "+D"(save), "+S"(load)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
        "memory", "cc");
}

inline void switch_context(Context& from, Context& to) {
  from.sanitized.before_switch(to.sanitized);
  jump_between(&from, &to);
  from.sanitized.after_switch();
}

/// Asks for the lines of a suspended stack that it touches first.
inline __attribute__((always_inline)) void prefetch(const Context& context) {
  constexpr std::size_t line_bytes = 64, lines = 4;
  const auto* first = static_cast<const std::byte*>(context.stack_pointer);
  for (std::size_t line = 0; line < lines; ++line) __builtin_prefetch(first + line * line_bytes, 1);
}

#else

struct Context {
  ucontext_t state = {};
  SanitizedStack sanitized;
};

inline void start_context(Context& context, std::byte* stack, std::size_t bytes, void (*entry)()) {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = stack;
  context.state.uc_stack.ss_size = bytes;
  context.state.uc_link = nullptr;
  makecontext(&context.state, entry, 0);
  context.sanitized.start(stack, bytes);
}

inline void switch_context(Context& from, Context& to) {
  from.sanitized.before_switch(to.sanitized);
  swapcontext(&from.state, &to.state);
  from.sanitized.after_switch();
}

inline void prefetch(const Context&) {}

#endif

// A stack on which a block's threads run, one after another, until one of them waits.

/// Bytes of one fibre's stack, its canary included.
inline constexpr std::size_t stack_bytes = 64 * 1024;
/// Below it, so many bytes cannot be touched.
inline constexpr std::size_t page_bytes = 4096;

class alignas(64) Fibre {  // the first line holds all that a switch needs
 public:
  /// `number` shifts the stack's top by cache lines, so that the stacks of a block do not share L1 sets.
  Fibre(unsigned number, void (*entry)());
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  unsigned number() const { return number_; }
  /// Back to the start of `entry`; what stood on the stack is dropped.
  void restart();
  /// False once a kernel grew its stack into the last bytes.
  bool stack_intact() const;
  void repair_stack();
  bool on_stack(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(mapping_) < page_bytes + stack_bytes;
  }

  Context context;
  unsigned thread = 0;       // the thread that waits here
  uint3 index{};             // its threadIdx
  std::uint64_t result = 0;  // what the collective it waits for gave it

 private:
  std::byte* mapping_;
  unsigned number_;
  void (*entry_)();
};

}  // namespace tally::executor
