// The checker's findings in words. Each ends the launch with an ExecutorFinding.
// Defined in report.cpp, elsewhere.cpp.
#pragma once

#include <cstddef>

#include "kernels/device/checker/access.hpp"
#include "kernels/device/checker/clock.hpp"

namespace tally::checker {

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
