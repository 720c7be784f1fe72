// Somebody who knows more of a training step's process than how it ended: which of several processes died first, and
// who waited for whom.
#pragma once

#include <optional>
#include <string>

#include "kernels/subjects/process/guarded_process.hpp"
#include "kernels/training_step/own_step.hpp"

namespace tally {

class StepWitness {
 public:
  virtual ~StepWitness() = default;
  /// A process is about to begin, the one before it is gone.
  virtual void begin() = 0;
  /// Why it left no trace, while it is still there unless it has `ended`; nullopt: it did not answer within `limit`,
  /// "120 s".
  virtual StepFailed failure(const std::optional<GuardedProcess::Ended>& ended, const std::string& limit) const = 0;
};

}  // namespace tally
