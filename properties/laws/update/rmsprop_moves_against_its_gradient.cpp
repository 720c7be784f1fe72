// Law: RMSProp without momentum and decay divides each gradient by a number that is not negative: no parameter moves
// with its gradient, and one whose gradient is zero keeps its bits.
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::rmsprop_moves_against_its_gradient_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.optimizer = choice("optimizer", "rmsprop");
}

/// Elements of a parameter that moved with their gradient, or without one.
std::size_t astray(const Tensor& gradient, const Tensor& before, const Tensor& after) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < gradient.elements(); ++i) {
    const double moved = after.value(i) - before.value(i);
    count += gradient.value(i) * moved > 0 || (gradient.value(i) == 0 && moved != 0);
  }
  return count;
}

Outcome holds(const Case& c, const RunOptions& options) {
  CheckedRun checked = run_and_check(c, options);
  if (checked.outcome.status == Status::not_run) return checked.outcome;
  std::size_t compared = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w) + "/optimizer/";
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* gradient = checked.trace.find(at + "in.d." + parameter);
      const Tensor* before = checked.trace.find(at + "in." + parameter);
      const Tensor* after = checked.trace.find(at + parameter);
      if (!gradient || !before || !after) continue;  // the lenses name what is missing
      ++compared;
      const std::size_t count = astray(*gradient, *before, *after);
      require(checked.outcome, count == 0, at + parameter, "optimizer",
              std::to_string(count) + " elements of " + parameter + " moved with their gradient");
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
    .name = "rmsprop_moves_against_its_gradient",
    .family = "decay, optimizer, schedule",
    .statement = "Under RMSProp no parameter moves with its gradient.",
    .shape = shape,
    .holds = holds,
    .control = "SGD gives another step",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::rmsprop_moves_against_its_gradient_law
