// How a run takes the step of each kind of optimizer: one record a kind, in optimizers/.
#pragma once

#include <source_location>
#include <string>

namespace tally {

struct Run;
struct ClipDecayStepArguments;

struct OptimizerSteps {
  /// Launches the kernel for every parameter, on `unscaled`, `master` and the state of each.
  void (*step)(Run&);
  /// Sets what the fused pass over all parameters takes of this optimizer; nullptr: that pass has no step for it.
  void (*fuse)(const Run&, ClipDecayStepArguments&) = nullptr;
};

struct RegisterOptimizerSteps {
  RegisterOptimizerSteps(const char* kind, OptimizerSteps steps,
                         std::source_location at = std::source_location::current());
};

/// Throws NotSupported for a kind that no file registered.
const OptimizerSteps& optimizer_steps(const std::string& kind);

/// Whether the pass over all parameters at once has a step for this kind.
bool has_fused_step(const std::string& kind);

}  // namespace tally
