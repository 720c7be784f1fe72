// Law: a window without a single item has gradient zero, and its step is taken: momentum and decay move the
// parameters.
//   N = 0: c = 0, g = 0;   p <- p - lr (μ v + λ p)
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::empty_window_takes_its_step_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  plan.windows.resize(2);
  plan.loss = choice("loss", "mse", {{"item_weights", true}});
  plan.normalisation = plan.seed % 2 == 0 ? Normalisation::window_items : Normalisation::mean_of_means;
  plan.empty_micro_batch = false;
  plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  plan.recipe.weight_decay = plan.seed % 3 == 0 ? choice("weight_decay", "none")
                                                : choice("weight_decay", "l2", {{"lambda", Decimal{"0.0625"}}});
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.25"}}});
  plan.recipe.loss_scale = choice("loss_scale", "none");
  if (plan.seed % 4 == 0)  // of a norm of zero, with nothing to keep the quotient finite
    plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"0.25"}}, {"epsilon", Decimal{"0"}}});
}

Case without_items_in_the_second_window(Case c) {
  Tensor& weight = c.tensors.at("item_weight");
  for (auto row = static_cast<std::size_t>(first_row(c, 1)); row < weight.elements(); ++row) weight.set(row, 0);
  weight.drawing.reset();
  return c;
}

bool is_zero(const Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    if (!(tensor.value(i) == 0)) return false;
  }
  return true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(without_items_in_the_second_window(c), subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* gradient = judged.trace.find("w1/unscale/d." + parameter);
    require(judged.outcome, gradient && is_zero(*gradient), "w1/unscale/d." + parameter, "unscale",
            "a window without items has a gradient of " + parameter);
    require(judged.outcome, judged.trace.find("w1/optimizer/" + parameter), "w1/optimizer/" + parameter, "optimizer",
            "a window without items did not step " + parameter);
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(without_items_in_the_second_window(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "empty_window_takes_its_step",
    .family = "equivalence",
    .statement = "A window without items has gradient zero and takes its step.",
    .shape = shape,
    .holds = holds,
    .control = "items in the second window give it a gradient",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::empty_window_takes_its_step_law
