// What the lenses ask an optimizer: what a step may leave, by the subject's claims, and which bits it must leave where
// they are known. State tensors come from the old state; the parameter from the new state (the lenses pass the
// subject's own), so that a state tensor's rounding is judged once. One record a kind, in `<kind>.cpp`.
#pragma once

#include <vector>

#include "oracle/registered_kind.hpp"
#include "oracle/tolerance/as_written.hpp"
#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// The step number `step` (the first is 0) under this recipe.
struct StepSetting {
  const Declared& declared;
  const Choice &optimizer, &schedule;
  std::int64_t step;
};

/// What one parameter's step reads and left so far. State is in the order of state_of(optimizer). For state tensor i:
/// `before[i]`, an empty matrix where there is none yet, and `after` in front of it; the parameter may be left out. For
/// the parameter: all of `after`, and `before` where moves_by_old_state().
template <class M>
struct StepTensors {
  const M& gradient;
  const std::vector<M>&before, &after;
  const M& parameter;
};

/// Every rule goes element by element: of some rows of all tensors it says what it says of them among all rows.
class OptimizerRules {
 public:
  virtual ~OptimizerRules() = default;

  /// State tensor i after the step.
  virtual Expected state(std::size_t i, const StepSetting& setting, const StepTensors<Expected>& tensors) const = 0;
  /// The parameter after the step. `rate` as the kernel holds it, fp32 [1, 1]. `from_zero`: the state began at zero,
  /// and all of it came from gradients since.
  virtual Expected parameter(const StepSetting& setting, const Expected& rate, const StepTensors<Expected>& tensors,
                             bool from_zero) const = 0;
  /// The same, bit by bit, where the subject claims to round as kernels/arithmetic.md writes.
  virtual Prediction predicted_state(std::size_t i, const StepSetting& setting,
                                     const StepTensors<Matrix<float>>& tensors) const = 0;
  virtual Prediction predicted_parameter(const StepSetting& setting, float rate,
                                         const StepTensors<Matrix<float>>& tensors) const = 0;
  /// Whether the step is a multiple of gradient or state, so that its roundings may lean along them.
  virtual bool is_linear() const = 0;
  /// Whether the parameter moves by a sign alone: by the rate, whatever the size.
  virtual bool steps_by_sign() const { return false; }
  /// Whether state tensor i moves by those in front of it, as the step left them.
  virtual bool reads_state_in_front(std::size_t) const { return false; }
  /// Whether the parameter moves by the state before the step.
  virtual bool moves_by_old_state() const { return false; }
};

/// Throws std::logic_error for a kind without rules.
const OptimizerRules& rules_of(const Choice& optimizer);

/// The rules live as long as the program.
using RegisterOptimizerRules = RegisterKind<const OptimizerRules*>;

}  // namespace tally::oracle
