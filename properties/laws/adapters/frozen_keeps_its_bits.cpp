// Law: what is frozen keeps its bits. A frozen parameter is cast from the same bits in every window, and leaves no
// gradient, buffer or state; and no number of the first window depends on whether its gradient was computed.
#include <algorithm>

#include "properties/generators/adapters.hpp"
#include "properties/generators/attention_plan.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/promised_bits.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::frozen_keeps_its_bits_law {
namespace {

void shape(Plan& plan) {
  if (plan.seed % 3 == 1) attend(plan);
  add_adapters(plan);
  at_least_windows(plan, 2);
  if (plan.seed % 3 == 0) plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"0.03"}}});
  plan.execution.order = 0;  // a product's order may depend on how many came before it
}

Case thawed(Case c) {
  for (Layer& l : c.model.layers) l.trainable = true;
  return c;
}

std::vector<std::string> frozen_of(const Model& model) {
  std::vector<std::string> frozen = weights_of(model);
  const std::vector<std::string> trained = parameters_of(model);
  std::erase_if(frozen, [&](const std::string& name) { return std::ranges::count(trained, name) > 0; });
  return frozen;
}

void require_still(Outcome& outcome, const Case& c, const Trace& trace, const std::string& parameter) {
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string tap = "w" + std::to_string(w) + "/cast/in." + parameter;
    const Tensor* got = trace.find(tap);
    require(outcome, got != nullptr && got->bytes == c.tensors.at(parameter).bytes, tap, "cast",
            "a frozen parameter is not what the case says");
  }
  const std::string read = "in." + parameter, left = "." + parameter;
  const auto found = std::ranges::find_if(trace.taps(), [&](const Tap& tap) {
    return tap.name.stage != "cast" && tap.name.tensor != read && tap.name.tensor.ends_with(left);
  });
  const bool still = found == trace.taps().end();
  require(outcome, still, still ? parameter : found->name.text(), still ? "cast" : found->name.stage,
          "a frozen parameter has a gradient, a buffer or state");
}

/// Up to where all gradients meet.
bool is_before_the_step(const TapName& name) {
  return name.window == 0 && (name.stage == "forward" || name.stage == "loss" || name.stage == "backward" ||
                              name.stage == "fork" || name.stage == "accumulate");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const std::vector<std::string> frozen = frozen_of(c.model);
  if (frozen.empty()) return not_for("a model with a frozen layer");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  for (const std::string& parameter : frozen) require_still(straight.outcome, c, straight.trace, parameter);
  const CheckedRun other = run_and_check(thawed(c), subject);
  add(straight.outcome, other.outcome);
  const PromisedBits promised(straight.trace), promised_thawed(other.trace);
  for (const Tap& tap : straight.trace.taps()) {
    if (!is_before_the_step(tap.name) || !promised.of(tap.name) || !promised_thawed.of(tap.name)) continue;
    const Tensor* got = other.trace.find(tap.name.view());
    require(straight.outcome, got != nullptr && *got == tap.value, tap.name.text(), tap.name.stage,
            "whether a frozen parameter's gradient is computed changed another number");
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(thawed(c), subject), {"cast", "accumulate"});
}

const RegisterLaw registered{{
    .name = "frozen_keeps_its_bits",
    .family = "adapters",
    .statement = "A frozen parameter keeps its bits, and nothing else depends on its gradient.",
    .shape = shape,
    .holds = holds,
    .control = "trained, it has a buffer and moves",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::frozen_keeps_its_bits_law
