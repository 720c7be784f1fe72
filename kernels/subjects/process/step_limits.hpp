// What a step of a user's may take before it is stopped.
#pragma once

#include <atomic>
#include <cstdint>

namespace tally {

struct StepLimits {
  double seconds = 120;                          // for one case
  std::uint64_t bytes = std::uint64_t{4} << 30;  // of memory, for each process of the step, beside what it begins with
  const std::atomic<bool>* interrupted = nullptr;  // once set, nobody waits for a step any more
};

}  // namespace tally
