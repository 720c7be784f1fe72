// One registration a kind: its contract, its exact mathematics and its rules under one name. Included by the file of a
// kind alone, as it pulls in Boost.
#pragma once

#include <source_location>
#include <string>
#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/exact/registered_exact.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/predicted_bits.hpp"

namespace tally::oracle {

/// Enters what the file of a kind says, at program start. `exact(Scalar<T>{})` gives the mathematics over T.
template <const char* section, template <class> class Exact, class Rules>
struct RegisterKindOf {
  template <class Of>
  RegisterKindOf(Contract contract, Of exact, Rules rules, std::source_location at = std::source_location::current()) {
    const RegisterExact<Exact> mathematics(contract.kind, exact, at);
    const RegisterKind<Rules> rules_of_kind(contract.kind, std::move(rules), at);
    contract.section = section;
    const RegisterContract entered(std::move(contract), at);
  }
};

namespace sections {
inline constexpr char layer[] = "layer", loss[] = "loss", optimizer[] = "optimizer", clip[] = "clip",
                      weight_decay[] = "weight_decay", learning_rate[] = "learning_rate", loss_scale[] = "loss_scale";
}

using RegisterLoss = RegisterKindOf<sections::loss, ExactLoss, LossBoundRule>;
using RegisterOptimizer = RegisterKindOf<sections::optimizer, ExactStep, const OptimizerRules*>;
using RegisterClip = RegisterKindOf<sections::clip, ExactClip, ClipRules>;
using RegisterDecay = RegisterKindOf<sections::weight_decay, ExactDecay, DecayRules>;
using RegisterSchedule = RegisterKindOf<sections::learning_rate, ExactRate, ScheduleRules>;
using RegisterLossScale = RegisterKindOf<sections::loss_scale, ExactScale, ScaleRules>;

/// A layer's, with the bits of its outputs where it may claim them.
struct RegisterLayer : RegisterKindOf<sections::layer, ExactLayer, LayerRules> {
  template <class Of>
  RegisterLayer(Contract contract, Of exact, const BoundRule& bound, const PredictedRule& predicted = {},
                std::source_location at = std::source_location::current())
      : RegisterKindOf(std::move(contract), exact, {bound, predicted}, at) {}
};

}  // namespace tally::oracle
