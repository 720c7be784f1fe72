// A small problem with two unequal micro-batches, for tests of what the suite itself refuses.
#pragma once

#include "properties/generators/choices.hpp"
#include "properties/laws/law.hpp"

namespace tally {

inline Plan small_plan() {
  Plan plan;
  plan.input = 3;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{4}}}), layer("tanh")};
  plan.outputs = 2;
  plan.loss = choice("loss", "mse");
  plan.windows = {{2, 3}};
  plan.recipe = {choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", Decimal{"0.125"}}}),
                 choice("weight_decay", "none"), choice("clip", "none"), choice("loss_scale", "none")};
  return plan;
}

inline Outcome outcome_under(const char* law, const Case& c, const RunOptions& subject = {}) {
  return find_law(law)->holds(c, subject);
}

/// The stage of the first check that fails; empty where none does.
inline std::string first_failing_stage(const Outcome& outcome) {
  for (const TensorCheck& check : outcome.checks) {
    if (check.status == Status::fail) return check.stage;
  }
  return {};
}

}  // namespace tally
