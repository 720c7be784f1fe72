// A case of three ranks, and a trace of it with one element changed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/compare/groups.hpp"
#include "properties/compare/lens.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"

namespace tally::three {

inline Plan small_plan() {
  Plan plan;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{5}}}), layer("relu")};
  plan.loss = choice("loss", "cross_entropy");
  plan.windows = {{2, 1, 3, 2}, {1, 2}};
  plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.25"}}});
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"0.125"}}});
  plan.recipe.loss_scale = choice("loss_scale", "dynamic", {{"initial", Decimal{"8"}}});
  return plan;
}

/// Three ranks, of which the last has nothing in the second window.
inline Case three_ranks(const std::string& algorithm = "ring") {
  Case c = case_of(small_plan());
  c.dealt = {{1, 2, 1}, {1, 1, 0}};
  return with_rank_option(std::move(c), "reduce.algorithm", algorithm);
}

inline std::vector<TensorCheck> checks_of(const Case& c, const Trace& trace) {
  return hard_lenses(c, trace, Grouping::declared).checks;
}

inline std::string first_failing(const std::vector<TensorCheck>& checks) {
  const TensorCheck* failure = first_failure(checks);
  return failure == nullptr ? "" : failure->tap;
}

/// The trace with one element of a tap changed.
inline Trace damaged(const Trace& trace, const std::string& tap, double factor) {
  Trace other;
  other.claims = trace.claims;
  other.case_hash = trace.case_hash;
  for (const Tap& each : trace.taps()) {
    Tensor value = each.value;
    if (each.name.text() == tap) value.set(0, value.value(0) * factor + 1);
    other.add(each.name, std::move(value));
  }
  return other;
}

}  // namespace tally::three
