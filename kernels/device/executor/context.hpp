// Leaving one stack and going on with another.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace tally::executor {

#if defined(__x86_64__)

/// A suspended stack: its stack pointer, on which lie the frame pointer and the address to go on at.
struct Context {
  void* stack_pointer = nullptr;
};

/// A context that starts `entry` on the given stack. `entry` never returns.
inline Context start_context(std::byte* stack, std::size_t bytes, void (*entry)()) {
  auto top = reinterpret_cast<std::uintptr_t>(stack + bytes) & ~std::uintptr_t{15};
  auto* word = reinterpret_cast<std::uintptr_t*>(top);
  *--word = 0;  // where entry would return to: the end of every back trace
  *--word = reinterpret_cast<std::uintptr_t>(entry);
  *--word = 0;  // frame pointer
  return {word};
}

/// Saves what the compiler expects to survive, and nothing else: it is told that every other register is lost. The red
/// zone below the stack pointer may be in use and is stepped over.
inline __attribute__((always_inline)) void switch_context(Context& from, Context& to) {
  void** save = &from.stack_pointer;
  void* load = to.stack_pointer;
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

#else

struct Context {
  ucontext_t state = {};
};

inline Context start_context(std::byte* stack, std::size_t bytes, void (*entry)());

inline void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

#endif

}  // namespace tally::executor
