// What bounds ask of the kinds of a recipe's sections: one record a kind, in `<kind>.cpp`. A kind whose contract
// says that it does nothing has none; an optimizer's are in oracle/recipe/optimizer_rules.hpp.
#pragma once

#include "oracle/registered_kind.hpp"
#include "oracle/tolerance/as_written.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

struct ScheduleRules {
  /// The rate of step t from the exact one, with what its derivation may be off.
  StepRate (*rate)(const Choice& schedule, long double exact, std::int64_t step);
  /// Whether every rate is a number of the case, read and not derived.
  bool is_written = false;
};
using RegisterScheduleRules = RegisterKind<ScheduleRules>;

/// A rate that is a few roundings of numbers no larger than `size`.
StepRate few_roundings(long double exact, long double size);

struct ClipRules {
  Expected (*clipped)(const Choice& clip, const Expected& coefficient, const Expected& gradient);
  /// The bits, from bits that were read.
  Matrix<float> (*rounded)(const Choice& clip, float coefficient, const FloatsRef& gradient);
  /// The coefficient by the norm, fp32 [1, 1], and its bits; nullptr for a kind that reads no norm.
  Expected (*coefficient)(const Choice& clip, const Expected& norm) = nullptr;
  Prediction (*predicted_coefficient)(const Declared& declared, const Choice& clip, float norm) = nullptr;
};
using RegisterClipRules = RegisterKind<ClipRules>;

/// As oracle::decayed and oracle::predicted_decayed say.
struct DecayRules {
  Expected (*decayed)(const Declared& declared, const Choice& decay, const StepRate& rate, const Expected& gradient,
                      const Expected& parameter);
  Prediction (*predicted)(const Declared& declared, const Choice& decay, const Choice& schedule, std::int64_t step,
                          const Matrix<float>& gradient, const Matrix<float>& parameter);
};
using RegisterDecayRules = RegisterKind<DecayRules>;

/// The scale after a window, of the kinds that check for overflow.
struct ScaleRules {
  ExpectedScale (*after)(const Choice& loss_scale, const ExpectedScale& now, bool found_non_finite);
};
using RegisterScaleRules = RegisterKind<ScaleRules>;

/// Each throws std::logic_error for a kind without rules, naming section and kind.
const ScheduleRules& schedule_rules(const Choice& schedule);
const ClipRules& clip_rules(const Choice& clip);
const DecayRules& decay_rules(const Choice& weight_decay);
const ScaleRules& scale_rules(const Choice& loss_scale);

}  // namespace tally::oracle
