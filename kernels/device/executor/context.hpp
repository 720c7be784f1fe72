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

/// A suspended stack: its stack pointer, on which lie the frame pointer and the address to go on at.
struct Context {
  void* stack_pointer = nullptr;
  SanitizedStack sanitized;
};

/// Makes a context that starts `entry`, which never returns, on the given stack.
inline void start_context(Context& context, std::byte* stack, std::size_t bytes, void (*entry)()) {
  auto* word = reinterpret_cast<std::uintptr_t*>(reinterpret_cast<std::uintptr_t>(stack + bytes) & ~std::uintptr_t{15});
  *--word = 0;  // where entry would return to: the end of every back trace
  *--word = reinterpret_cast<std::uintptr_t>(entry);
  *--word = 0;  // frame pointer
  context.stack_pointer = word;
  context.sanitized.start(stack, bytes);
}

/// Saves what the compiler expects to survive, and nothing else: it is told that every other register is lost. The red
/// zone below the stack pointer may be in use and is stepped over.
inline __attribute__((always_inline)) void jump_between(void** save, void* load) {
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "pushq %%rbp\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rbp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "leaq 128(%%rsp), %%rsp"
      : "+D"(save), "+S"(load)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
        "memory", "cc");
}

inline void switch_context(Context& from, Context& to) {
  from.sanitized.before_switch(to.sanitized);
  jump_between(&from.stack_pointer, to.stack_pointer);
  from.sanitized.after_switch();
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

#endif

}  // namespace tally::executor
