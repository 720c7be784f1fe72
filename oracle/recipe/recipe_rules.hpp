// What bounds and lenses ask of the kinds of a recipe's sections, one record a kind; and the optimizers with bounds,
// and bit by bit. Defined in adam.cpp, lion.cpp, rmsprop.cpp, sgd.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "oracle/registered_files.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

// What bounds ask of the kinds of a recipe's sections: one record a kind, in `<kind>.cpp`. A kind whose contract
// says that it does nothing has none; an optimizer's are in oracle/recipe/recipe_rules.hpp.

struct ScheduleRules {
  /// The rate of step t from the exact one, with what its derivation may be off.
  StepRate (*rate)(const Choice& schedule, long double exact, std::int64_t step);
  /// Whether every rate is a number of the case, read and not derived.
  bool is_written = false;
};

/// A rate that is a few roundings of numbers no larger than `size`.
StepRate few_roundings(long double exact, long double size);

struct ClipRules {
  Expected (*clipped)(const Declared& declared, const Choice& clip, const Expected& coefficient,
                      const Expected& gradient);
  /// The bits, from bits that were read.
  Matrix<float> (*rounded)(const Choice& clip, float coefficient, const FloatsRef& gradient);
  /// The coefficient of step t by the norm, fp32 [1, 1], and its bits; nullptr for a kind that reads no norm.
  Expected (*coefficient)(const Declared& declared, const Choice& clip, const Expected& norm,
                          std::int64_t step) = nullptr;
  Prediction (*predicted_coefficient)(const Declared& declared, const Choice& clip, float norm,
                                      std::int64_t step) = nullptr;
};

/// As oracle::decayed and oracle::predicted_decayed say.
struct DecayRules {
  Expected (*decayed)(const Declared& declared, const Choice& decay, const StepRate& rate, const Expected& gradient,
                      const Expected& parameter);
  Prediction (*predicted)(const Declared& declared, const Choice& decay, const Choice& schedule, std::int64_t step,
                          const Matrix<float>& gradient, const Matrix<float>& parameter);
};

/// The scale after a window, of the kinds that check for overflow.
struct ScaleRules {
  ExpectedScale (*after)(const Declared& declared, const Choice& loss_scale, const ExpectedScale& now,
                         bool found_non_finite);
};

/// Each throws std::logic_error for a kind without rules, naming section and kind.
inline const ScheduleRules& schedule_rules(const Choice& schedule) {
  return RegisterKind<ScheduleRules>::of("bounds", "learning_rate", schedule.kind);
}
inline const ClipRules& clip_rules(const Choice& clip) {
  return RegisterKind<ClipRules>::of("bounds", "clip", clip.kind);
}
inline const DecayRules& decay_rules(const Choice& weight_decay) {
  return RegisterKind<DecayRules>::of("bounds", "weight_decay", weight_decay.kind);
}
inline const ScaleRules& scale_rules(const Choice& loss_scale) {
  return RegisterKind<ScaleRules>::of("bounds", "loss_scale", loss_scale.kind);
}

// What the lenses ask an optimizer: what a step may leave, by the subject's claims, and which bits it must leave where
// they are known. State tensors come from the old state; the parameter from the new state (the lenses pass the
// subject's own), so that a state tensor's rounding is judged once. One record a kind, in `<kind>.cpp`.

/// The step number `step` (the first is 0) under this recipe.
struct StepSetting {
  const Declared& declared;
  const Choice &optimizer, &schedule;
  std::int64_t step;

  /// The same step, asked for something else.
  StepSetting asked(const Declared& now) const { return {now, optimizer, schedule, step}; }
};

/// What one parameter's step reads and left so far. State is in the order of state_of(optimizer), an empty matrix where
/// the parameter has no such tensor. For state tensor i: `before[i]`, an empty matrix where there is none yet, and
/// `after` in front of it; the parameter where state_reads_parameter(i). For the parameter: all of `after`, and `before` where
/// moves_by_old_state(). Where reads_whole_tensors(optimizer), state that begins at zero is written out.
template <class M>
struct StepTensors {
  const M& gradient;
  const std::vector<M>&before, &after;
  const M& parameter;
};

/// Unless reads_whole_tensors(optimizer), every rule goes element by element: of some rows of all tensors it says what it
/// says of them among all rows.
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
  /// Whether state tensor i moves by the parameter before the step.
  virtual bool state_reads_parameter(std::size_t) const { return false; }
  /// Whether the parameter moves by the state before the step.
  virtual bool moves_by_old_state() const { return false; }
};

/// Throws std::logic_error for a kind without rules.
inline const OptimizerRules& rules_of(const Choice& optimizer) {
  return *RegisterKind<const OptimizerRules*>::of("bounds", "optimizer", optimizer.kind);
}

// State that begins at zero: an empty matrix stands for it before the first step.

inline Expected zeros_like(const Expected& x) {
  return {Matrix<long double>::Zero(x.v.rows(), x.v.cols()), Matrix<double>::Zero(x.v.rows(), x.v.cols())};
}

/// Element i of the state before the step.
inline float begun_at_zero(const Matrix<float>& old, Eigen::Index i) { return old.size() == 0 ? 0.0F : old.data()[i]; }

/// m moved towards g by a share w, fl(m + fl(w d)) below w = 1/2 and fl(g - fl(fl(1 - w) d)) from there on, d = fl(g -
/// m), as libraries interpolate.
inline Bounded interpolated(const Arithmetic& fp32, Bounded m, Bounded g, Bounded w) {
  const Bounded distance = fp32.sub(g, m);
  if (w.v + w.e < 0.5) return fp32.add(m, fp32.mul(w, distance));
  const Bounded from_the_end = fp32.sub(g, fp32.mul(fp32.sub({1, 0}, w), distance));
  if (w.v - w.e >= 0.5) return from_the_end;
  const Bounded either = fp32.add(m, fp32.mul(w, distance));
  return {from_the_end.v, std::max(from_the_end.e, std::fabs(either.v - from_the_end.v) + either.e)};
}

// A step rate * (m / divisor) that may be evaluated as (rate * m) / divisor instead, as libraries do.

/// The bound of the first evaluation, widened by what only the second one does: its roundings are as many and as large,
/// but its product may underflow, by eta, and is then divided by at least `least`; or overflow, and nothing is known.
inline Bounded either_product(const Arithmetic& fp32, Bounded move, Bounded rate, Bounded m, double least) {
  const double product = (std::fabs(rate.v) + rate.e) * (std::fabs(m.v) + m.e);
  if (!decided(move)) return move;
  if (!(product * inflation < fp32.threshold())) return {move.v, infinite};
  // Each operation behind the lost bits rounds them at most once more.
  move.e += least > 0 ? fp32.underflow() / least * (1 + gam(2, fp32.u())) * inflation : infinite;
  return move;
}

/// The moments that (adam.1) and (adam.2) leave; an empty `old` is zero.
Expected adam_exp_avg(const Declared& declared, const Choice& optimizer, const Expected& gradient, const Expected& old);
Expected adam_exp_avg_sq(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                         const Expected& old);
/// (adam.3) from the new moments at step t (the first is 0). `from_zero`: the moments began at zero, so that
/// |m^| / sqrt v^ is bounded (oracle/tolerance.md) and the bound capped by it.
Expected adam_parameter(const Declared& declared, const Choice& optimizer, const StepRate& rate, std::int64_t step,
                        const Expected& exp_avg, const Expected& exp_avg_sq, const Expected& parameter, bool from_zero);

/// The same bit by bit, at step t of the schedule: kernels/arithmetic.md.
Prediction predicted_exp_avg(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                             const Matrix<float>& old);
Prediction predicted_exp_avg_sq(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                const Matrix<float>& old);
Prediction predicted_adam_parameter(const Declared& declared, const Choice& optimizer, const Choice& schedule,
                                    std::int64_t step, const Matrix<float>& exp_avg, const Matrix<float>& exp_avg_sq,
                                    const Matrix<float>& parameter);

/// The momentum that (lion.2) leaves; `old` empty: it began at zero.
Expected lion_momentum(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                       const Expected& old);
/// (lion.1) from the old momentum. Where the interval of what the sign is of reaches over 0, the sign is open: the
/// subject may have moved by -rate, 0 or rate.
Expected lion_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                        const Expected& gradient, const Expected& old, const Expected& parameter);

/// The same bit by bit: kernels/arithmetic.md.
Prediction predicted_lion_momentum(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                   const Matrix<float>& old);
Prediction predicted_lion_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                    const Matrix<float>& gradient, const Matrix<float>& old,
                                    const Matrix<float>& parameter);

/// The second moment that (rmsprop.1) leaves; `old` empty: it began at zero.
Expected rmsprop_square(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                        const Expected& old);
/// The buffer that (rmsprop.3) leaves, from the new second moment by (rmsprop.2); `old` empty: it began at zero.
Expected rmsprop_buffer(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                        const Expected& square, const Expected& old);
/// (rmsprop.4) from the new state; `buffer` empty without momentum. `rate` as the kernel holds it.
Expected rmsprop_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                           const Expected& gradient, const Expected& square, const Expected& buffer,
                           const Expected& parameter);

/// The same bit by bit: kernels/arithmetic.md.
Prediction predicted_square(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                            const Matrix<float>& old);
Prediction predicted_buffer(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                            const Matrix<float>& square, const Matrix<float>& old);
Prediction predicted_rmsprop_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                       const Matrix<float>& gradient, const Matrix<float>& square,
                                       const Matrix<float>& buffer, const Matrix<float>& parameter);

/// The buffer that (sgd.1) leaves; `old` empty where there is none yet.
Expected sgd_momentum(const Declared& declared, const Choice& optimizer, const Expected& gradient, const Expected& old);
/// (sgd.3) along the direction of (sgd.2); `momentum` is the new buffer, empty without momentum. `rate` as the kernel
/// holds it.
Expected sgd_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                       const Expected& gradient, const Expected& momentum, const Expected& parameter);

/// The same bit by bit: kernels/arithmetic.md.
Prediction predicted_sgd_momentum(const Declared& declared, const Choice& optimizer, const Matrix<float>& gradient,
                                  const Matrix<float>& old);
Prediction predicted_sgd_parameter(const Declared& declared, const Choice& optimizer, float rate,
                                   const Matrix<float>& gradient, const Matrix<float>& momentum,
                                   const Matrix<float>& parameter);

}  // namespace tally::oracle
