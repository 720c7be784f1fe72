// What bounds and lenses ask of the kinds of a recipe's sections.
#include "oracle/recipe/recipe_rules.hpp"

namespace tally::oracle {

const ScheduleRules& schedule_rules(const Choice& schedule) {
  return RegisterKind<ScheduleRules>::of("bounds", "learning_rate", schedule.kind);
}

const ClipRules& clip_rules(const Choice& clip) { return RegisterKind<ClipRules>::of("bounds", "clip", clip.kind); }

const DecayRules& decay_rules(const Choice& weight_decay) {
  return RegisterKind<DecayRules>::of("bounds", "weight_decay", weight_decay.kind);
}

const ScaleRules& scale_rules(const Choice& loss_scale) {
  return RegisterKind<ScaleRules>::of("bounds", "loss_scale", loss_scale.kind);
}

const OptimizerRules& rules_of(const Choice& optimizer) {
  return *RegisterKind<const OptimizerRules*>::of("bounds", "optimizer", optimizer.kind);
}

}  // namespace tally::oracle
