// Leaving one stack and going on with another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/executor/sanitizer.hpp"

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

}  // namespace tally::executor
