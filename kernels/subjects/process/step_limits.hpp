// What a step of somebody else's may take, and how it ends where it is interrupted.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>

#include "kernels/training_step/run/run.hpp"

namespace tally {

// What a step of a user's may take before it is stopped, and what cannot be a subject at all.

struct StepLimits {
  double seconds = 120;                          // for one case
  std::uint64_t bytes = std::uint64_t{4} << 30;  // of memory, for each process of the step, beside what it begins with
  const std::atomic<bool>* interrupted = nullptr;  // once set, nobody waits for a step any more
};

// A library or a program that cannot be a subject at all.

/// what() says what was found, what was expected and what to do.
struct StepRefused : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// A training step that was not waited for.

/// Whoever interrupts a campaign may have ended the step's process by the same key: it is not to blame.
struct StepInterrupted : NotSupported {
  StepInterrupted() : NotSupported("the campaign was interrupted while the training step ran") {}
};

}  // namespace tally
