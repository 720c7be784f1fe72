// Every access of a kernel to memory, held against what came before it.
#include "kernels/device/checker/access.hpp"

#include <pthread.h>

#include <cstring>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/checker/own_elements.hpp"
#include "kernels/device/checker/shadow.hpp"
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

namespace {

struct Accessed {
  Access access;
  std::uintptr_t address;
  std::size_t bytes;
  Stamp stamp;
};

/// The largest shift at which these bytes are whole cells.
unsigned whole_shift(std::uintptr_t offset, std::size_t bytes) {
  const auto both = offset | bytes;
  return both & 1 ? 0 : both & 2 ? 1 : 2;
}

/// What an earlier block left in shared memory is gone.
template <bool shared>
void require_ordered(const Accessed& now, const Stamp& before, Access how) {
  if (shared && before.block != now.stamp.block) return;
  if (!happened_before(before)) [[unlikely]]
    report_race(now.access, now.address, now.stamp, how, before);
}

void note_reader(Cell& cell, const Stamp& now) {
  Stamp& first = cell.read[0];
  if (first.block != now.block) {
    if (first.block - running.unordered < running.unordered_blocks) cell.read[1] = first;
    first = now;
  } else if (happened_before(first)) {
    first = now;
  } else {
    cell.read[1] = now;
  }
}

template <bool shared>
void check_cell(Cell& cell, const Accessed& now) {
  const Stamp& stamp = now.stamp;
  if (now.access == Access::read) {
    if (cell.read[0].who == stamp.who && cell.read[0].epoch == stamp.epoch && cell.read[0].block == stamp.block) return;
    require_ordered<shared>(now, cell.write, Access::write);
    require_ordered<shared>(now, cell.atomic, Access::atomic);
    note_reader(cell, stamp);
    return;
  }
  require_ordered<shared>(now, cell.write, Access::write);
  require_ordered<shared>(now, cell.read[0], Access::read);
  require_ordered<shared>(now, cell.read[1], Access::read);
  if (now.access == Access::write) {
    require_ordered<shared>(now, cell.atomic, Access::atomic);
    cell.write = stamp;
  } else {
    cell.atomic = stamp;
  }
}

/// `used` is how many bytes of the memory may have been touched.
template <bool shared>
void check_cells(Shadowed& memory, std::size_t used, const Accessed& now) {
  const std::uintptr_t offset = now.address - memory.begin;
  const unsigned shift = whole_shift(offset, now.bytes);
  if (shift < memory.shift) [[unlikely]]
    split_cells(memory, shift, used);
  const Cell* end = memory.cells + ((offset + now.bytes) >> memory.shift);
  for (Cell* cell = memory.cells + (offset >> memory.shift); cell != end; ++cell) {
    check_cell<shared>(*cell, now);
    if (!shared || now.access == Access::write) continue;
    if (cell->write.block != now.stamp.block) [[unlikely]]
      report_unwritten(now.access, now.address, now.stamp);
  }
}

/// Most reads of shared memory: of one cell that this block wrote before its last barrier. False: the long way.
inline bool note_settled_read(const Shadowed& block, std::uintptr_t address, std::size_t bytes, const void* code) {
  const std::uintptr_t offset = address - block.begin, cell_bytes = std::uintptr_t{1} << block.shift;
  if (bytes != cell_bytes || (offset & (cell_bytes - 1)) != 0) return false;
  const Running& r = running;
  Cell& cell = block.cells[offset >> block.shift];
  const bool settled = cell.write.block == r.block && cell.write.epoch < r.epoch && cell.atomic.block != r.block;
  if (!settled || r.clocks || r.handed_on) return false;
  Stamp& first = cell.read[0];
  const bool other_reader = first.block == r.block && first.epoch == r.epoch && first.who != r.who;
  cell.read[other_reader] = {r.block, r.epoch, r.who, code_offset(code)};
  return true;
}

template <Access access>
inline __attribute__((always_inline)) void check_access(const void* address, std::size_t bytes, const void* code) {
  if (!running.active) [[unlikely]]
    return;
  Accessed now{access, reinterpret_cast<std::uintptr_t>(address), bytes, {}};
  Shadowed& block = shared_shadow;
  const bool shared = now.address - block.begin < block.bytes;
  if (!shared && !memory.has(now.address)) return check_elsewhere(access, now.address, bytes, code);
  if (running.noting == Running::never && executor::state().schedule.interrupts()) [[unlikely]]
    executor::interrupt();
  if (access == Access::read && shared && note_settled_read(block, now.address, bytes, code)) return;
  now.stamp = {running.block, running.epoch, running.who, code_offset(code)};
  if (shared) {
    const std::size_t used = shared_bytes_used();
    if (now.address - block.begin + bytes > used) [[unlikely]]
      report_outside(access, now.address, bytes, now.stamp);
    check_cells<true>(block, used, now);
  } else {
    if (note_other_element(access, now.address, bytes, now.stamp.code)) return;
    Shadowed* buffer = buffer_near(now.address);
    if (buffer == nullptr || now.address < buffer->begin || now.address - buffer->begin + bytes > buffer->bytes)
        [[unlikely]]
      report_outside(access, now.address, bytes, now.stamp);
    check_cells<false>(*buffer, buffer->bytes, now);
  }
  if (access == Access::atomic) meet(address);
}

}  // namespace
}  // namespace tally::checker

using tally::checker::Access;
using tally::checker::check_access;

/// The short way first; the long one in a function of its own keeps registers out of it.
#define TALLY_HOOK(name, access, bytes)                                                                             \
  static __attribute__((noinline)) void name##_long(void* address, const void* code) {                              \
    check_access<access>(address, bytes, code);                                                                     \
  }                                                                                                                 \
  void name(void* address) {                                                                                        \
    const void* code = __builtin_return_address(0);                                                                 \
    const auto offset = tally::checker::code_offset(code);                                                          \
    if (tally::checker::note_own_element<access, bytes>(reinterpret_cast<std::uintptr_t>(address), offset)) return; \
    name##_long(address, code);                                                                                     \
  }
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
    check_access<Access::read>(from, bytes, __builtin_return_address(0));
    check_access<Access::write>(to, bytes, __builtin_return_address(0));
  }
  return std::memcpy(to, from, bytes);
}

void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) {
    check_access<Access::read>(from, bytes, __builtin_return_address(0));
    check_access<Access::write>(to, bytes, __builtin_return_address(0));
  }
  return std::memmove(to, from, bytes);
}

void* __tsan_memset(void* to, int byte, std::size_t bytes) {
  if (bytes > 0) check_access<Access::write>(to, bytes, __builtin_return_address(0));
  return std::memset(to, byte, bytes);
}

/// An atomic of a checked kernel, which is about to happen unobserved.
void tally_check_atomic(void* address, std::size_t bytes, const void* code) {
  check_access<Access::atomic>(address, bytes, code);
}
}
