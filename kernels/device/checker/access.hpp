// What a kernel's access to memory must obey, and the findings in words.
// Defined in report.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/device/checker/order.hpp"

namespace tally::checker {

// What a kernel's access to memory must obey: inside a buffer or the block's shared memory, shared memory written
// before it is read, and no two threads on the same bytes, one of them writing, with nothing that orders them.
//
// Checked kernels are compiled with the hooks of clang's thread sanitizer, which access.cpp defines: no sanitizer is
// linked. A hook comes before the access, and may let other threads run first.

enum class Access { read, write, atomic };

// From an address in the program to the line of the kernel's text.

extern "C" const char __executable_start;

/// Fits a Stamp.
inline std::uint32_t code_offset(const void* code) {
  return static_cast<std::uint32_t>(static_cast<const char*>(code) - &__executable_start);
}

/// "FILE:LINE" of the kernel's own text, as addr2line tells it; the device's own headers are looked through. Slow the
/// first time for each place.
std::string source_line(std::uint32_t code);

// The checker's findings in words. Each ends the launch with an ExecutorFinding.

/// Two threads, one of them writing, and nothing that orders them.
[[noreturn]] void report_race(Access now, std::uintptr_t address, const Stamp& stamp, Access before,
                              const Stamp& other);
/// Shared memory that no thread of the block has written.
[[noreturn]] void report_unwritten(Access now, std::uintptr_t address, const Stamp& stamp);
/// Device or shared memory that nobody was given.
[[noreturn]] void report_outside(Access now, std::uintptr_t address, std::size_t bytes, const Stamp& stamp);

/// An address that is neither shared nor the device's: allowed on the running thread's stack and in the program's own
/// constants only.
void check_elsewhere(Access now, std::uintptr_t address, std::size_t bytes, const void* code);

}  // namespace tally::checker
