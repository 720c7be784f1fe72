// Law: under Lion without decay every element of a parameter moves by the rate, up or down, or not at all, whatever the
// size of its gradient.
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::lion_moves_by_the_rate_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");  // every window steps
  plan.recipe.optimizer = choice("optimizer", "lion");
}

/// The element that `before` becomes in its format by this move in fp32.
double moved(const Tensor& like, double before, float move) {
  Tensor one(like.dtype, {1});
  one.set(0, static_cast<float>(before) + move);
  return one.value(0);
}

std::size_t astray(const Tensor& before, const Tensor& after, float rate) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < before.elements(); ++i) {
    const double from = before.value(i), to = after.value(i);
    count += to != from && to != moved(before, from, rate) && to != moved(before, from, -rate) && !std::isnan(to);
  }
  return count;
}

Outcome holds(const Case& c, const RunOptions& options) {
  CheckedRun checked = run_and_check(c, options);
  if (checked.outcome.status == Status::not_run) return checked.outcome;
  std::size_t compared = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w) + "/optimizer/";
    const Tensor* rate = checked.trace.find(at + "in.learning_rate");
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* before = checked.trace.find(at + "in." + parameter);
      const Tensor* after = checked.trace.find(at + parameter);
      if (!rate || !before || !after) continue;  // the lenses name what is missing
      ++compared;
      const std::size_t count = astray(*before, *after, static_cast<float>(rate->value(0)));
      require(checked.outcome, count == 0, at + parameter, "optimizer",
              std::to_string(count) + " elements of " + parameter + " moved by something else than the rate");
    }
  }
  require(checked.outcome, compared > 0, "w0/optimizer", "optimizer", "no step left what the law compares");
  return settled(std::move(checked.outcome));
}

bool differs(const Case& c, const RunOptions& options) {
  Case other = c;
  other.recipe.optimizer = choice("optimizer", "sgd");
  return bits_differ(run(c, options), run(other, options), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "lion_moves_by_the_rate",
    .family = "decay, optimizer, schedule",
    .statement = "Under Lion every element moves by the rate or not at all.",
    .shape = shape,
    .holds = holds,
    .control = "SGD gives another step",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::lion_moves_by_the_rate_law
