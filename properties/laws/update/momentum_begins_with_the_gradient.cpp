// Law: the first step, which finds no momentum buffer, takes the gradient itself; dampening acts from the second on,
// Nesterov from the first.
//   v_0 = g_0;   v_t = μ v_(t-1) + (1 - d) g_t
#include "properties/compare/lens.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::momentum_begins_with_the_gradient_law {
namespace {

void shape(Plan& plan) {
  usual_formats(plan);
  const bool nesterov = plan.seed % 2 == 0;
  at_least_windows(plan, 2);
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "none");
  plan.execution.kernels.erase("clip_decay_step");  // it writes no gradient before the step
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.optimizer =
      choice("optimizer", "sgd",
             {{"momentum", Decimal{"0.75"}}, {"dampening", Decimal{nesterov ? "0" : "0.5"}}, {"nesterov", nesterov}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* gradient = judged.trace.find("w0/optimizer/in.d." + parameter);
    const std::string name = "w0/optimizer/momentum." + parameter;
    const Tensor* momentum = judged.trace.find(name);
    if (!gradient || !momentum) {
      require(judged.outcome, false, name, "optimizer", name + " was not tapped");
    } else {
      add(judged.outcome, bitwise_check(name, "optimizer", *gradient, *momentum));
    }
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case without = c;
  without.recipe.optimizer = choice("optimizer", "sgd");
  return bits_differ(run(c, subject), run(without, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "momentum_begins_with_the_gradient",
    .family = "decay, optimizer, schedule",
    .statement = "Momentum begins with the gradient itself, undampened.",
    .shape = shape,
    .holds = holds,
    .control = "no momentum gives another second step",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::momentum_begins_with_the_gradient_law
