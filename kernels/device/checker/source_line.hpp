// From an address in the program to the line of the kernel's text.
#pragma once

#include <cstdint>
#include <string>

namespace tally::checker {

extern "C" const char __executable_start;

/// Fits a Stamp.
inline std::uint32_t code_offset(const void* code) {
  return static_cast<std::uint32_t>(static_cast<const char*>(code) - &__executable_start);
}

/// "FILE:LINE" of the kernel's own text, as addr2line tells it; the device's own headers are looked through. Slow the
/// first time for each place.
std::string source_line(std::uint32_t code);

}  // namespace tally::checker
