// One record a kind, `const Register<LayerDefinition> registered{{…}};`: its contract, its exact mathematics and its rules under one name. Included by the file of a
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

/// What the file of a kind says of it.
template <const char* section, template <class> class Exact, class Rules>
struct Definition {
  Contract contract;
  OverAllScalars<Exact> exact;
  Rules rules;
};

template <const char* section, template <class> class Exact, class Rules>
void enter_record(Definition<section, Exact, Rules> of, std::source_location at) {
  const RegisterKind<OverAllScalars<Exact>> mathematics(of.contract.kind, of.exact, at);
  const RegisterKind<Rules> rules_of_kind(of.contract.kind, std::move(of.rules), at);
  of.contract.section = section;
  enter_record(std::move(of.contract), at);
}

namespace sections {
inline constexpr char layer[] = "layer", loss[] = "loss", optimizer[] = "optimizer", clip[] = "clip",
                      weight_decay[] = "weight_decay", learning_rate[] = "learning_rate", loss_scale[] = "loss_scale";
}

using LayerDefinition = Definition<sections::layer, ExactLayer, LayerRules>;
using LossDefinition = Definition<sections::loss, ExactLoss, LossBoundRule>;
using OptimizerDefinition = Definition<sections::optimizer, ExactStep, const OptimizerRules*>;
using ClipDefinition = Definition<sections::clip, ExactClip, ClipRules>;
using DecayDefinition = Definition<sections::weight_decay, ExactDecay, DecayRules>;
using ScheduleDefinition = Definition<sections::learning_rate, ExactRate, ScheduleRules>;
using LossScaleDefinition = Definition<sections::loss_scale, ExactScale, ScaleRules>;

}  // namespace tally::oracle
