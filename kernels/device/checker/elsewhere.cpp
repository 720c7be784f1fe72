#include <pthread.h>

#include "kernels/device/checker/memory.hpp"
#include "kernels/device/checker/order.hpp"
#include "kernels/device/checker/report.hpp"
#include "kernels/device/checker/source_line.hpp"
#include "kernels/device/executor/state.hpp"

namespace tally::checker {
namespace {

extern "C" const char _end;

/// The stack that launched: the kernel's arguments may point there.
Range launching_stack() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return {reinterpret_cast<std::uintptr_t>(begin), bytes};
}

/// A thread's own copy of what is declared thread_local stands around the executor's.
bool thread_local_here(std::uintptr_t address) {
  constexpr std::uintptr_t around = 64 * 1024;
  const auto own = reinterpret_cast<std::uintptr_t>(&running);
  return address - (own - around) < 2 * around;
}

}  // namespace

void check_elsewhere(Access now, std::uintptr_t address, std::size_t bytes, const void* code) {
  const executor::State& s = executor::state();
  if (s.fibre->on_stack(address)) return;
  const Range arguments{reinterpret_cast<std::uintptr_t>(s.launch->arguments), s.launch->argument_bytes};
  if (arguments.has(address)) return;
  const auto program = reinterpret_cast<std::uintptr_t>(&__executable_start);
  if (address - program < reinterpret_cast<std::uintptr_t>(&_end) - program) return;
  static thread_local const Range stack = launching_stack();
  if (stack.has(address) || thread_local_here(address)) return;
  report_outside(now, address, bytes, {running.block, running.epoch, running.who, code_offset(code)});
}

}  // namespace tally::checker
