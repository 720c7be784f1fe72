// A stack on which a block's threads run, one after another, until one of them waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/device/executor/context.hpp"
#include "kernels/device/host/indices.hpp"

namespace tally::executor {

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
