// A training step that was not waited for.
#pragma once

#include "kernels/training_step/run.hpp"

namespace tally {

/// Whoever interrupts a campaign may have ended the step's process by the same key: it is not to blame.
struct StepInterrupted : NotSupported {
  StepInterrupted() : NotSupported("the campaign was interrupted while the training step ran") {}
};

}  // namespace tally
