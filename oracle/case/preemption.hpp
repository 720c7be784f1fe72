// One entry of a schedule written as data: at this decision of this launch, something other than the default ran.
#pragma once

#include <cstdint>

namespace tally {

struct Preemption {
  std::uint64_t launch = 0;  // of the run, counted from 1
  std::uint64_t step = 0;    // decisions of the launch, counted from 1: waits and, on the checked side, memory accesses
  std::uint64_t pick = 0;    // which of the threads that could run; 0 is the default
  friend bool operator==(const Preemption&, const Preemption&) = default;
};

}  // namespace tally
