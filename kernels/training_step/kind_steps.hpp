// How a run takes each kind of loss and of the recipe's sections: one record a kind, in kernels/losses and
// kernels/window. A kind whose contract says that it does nothing has none.
// Defined in stages.cpp, update.cpp.
#pragma once

#include "kernels/training_step/run/run_state.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/registered_files.hpp"

namespace tally {

struct LossSteps {
  /// Launches the kernel for micro-batch k: the loss of every row, and the gradient `dy` of run.factor times their sum.
  void (*evaluate)(Run&, int k, std::int64_t features, float* losses, void* dy);
};

struct ClipSteps {
  const char* operation;  // of the kernel that clips one gradient
  void (*clip)(Run&, Parameter&);
  /// Sets what the fused pass over all parameters takes of this kind.
  void (*fuse)(const Run&, ClipDecayStepArguments&);
  /// Launches what every gradient is clipped by, into run.coefficient; nullptr for a kind that reads no norm.
  void (*coefficient)(Run&) = nullptr;
  const char* of_coefficient = "";  // its operation
};

struct DecaySteps {
  const char* operation;  // of the kernel, which takes DecayArguments
  DecayKind fused;        // what the fused pass calls it
};

struct OptimizerSteps {
  /// Launches the kernel for every parameter, on `unscaled`, `master` and the state of each.
  void (*step)(Run&);
  /// Sets what the fused pass over all parameters takes of this optimizer; nullptr: that pass has no step for it.
  void (*fuse)(const Run&, ClipDecayStepArguments&) = nullptr;
};

struct ScheduleSteps {
  /// The learning rate of step t, in binary64.
  double (*rate)(const Choice& schedule, std::int64_t t);
};

struct LossScaleSteps {
  /// Launches the kernel that moves scale and growth counter after a window.
  void (*move)(Run&);
};

/// Each throws NotSupported for a kind that no file registered, naming section and kind.
const LossSteps& loss_steps(const Choice& loss);
const ClipSteps& clip_steps(const Choice& clip);
const DecaySteps& decay_steps(const Choice& weight_decay);
const OptimizerSteps& optimizer_steps(const Choice& optimizer);
const ScheduleSteps& schedule_steps(const Choice& schedule);
const LossScaleSteps& loss_scale_steps(const Choice& loss_scale);

// What a window's step is made with.

/// The constants of a window's decay, derived in binary64 and rounded once. Tensors and sizes are left empty.
DecayArguments decay_constants(const Run& run);

/// The norm that a clip by norm asks for.
inline NormKind norm_kind_of(const Choice& clip) {
  const std::string& norm = clip.text("norm");
  return norm == "1" ? NormKind::one : norm == "inf" ? NormKind::infinity : NormKind::two;
}

/// The norm that a rank takes of what it has; of its own pieces, what it hands to the others, by
/// `execution.ranks.reduce.norm`.
NormKind norm_kind_of(const Run& run);

}  // namespace tally
