// Law: every window is unscaled once, by the scale it was run with, also where the scale grows at its end.
//   inverse_scale of window w = 1 / scale that the scaler left after window w - 1
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::unscaled_by_the_windows_scale_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  at_least_windows(plan, 3);
  plan.recipe.loss_scale =
      choice("loss_scale", "dynamic", {{"initial", Decimal{"8"}}, {"growth_interval", std::int64_t{1}}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  double scale = c.recipe.loss_scale.number("initial").to_double();
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w);
    const Tensor* found = judged.trace.find(at + "/overflow_check/found");
    if (found && found->integer(0) == 0) {
      const Tensor* inverse = judged.trace.find(at + "/unscale/in.inverse_scale");
      require(
          judged.outcome, inverse && inverse->value(0) * scale == 1, at + "/unscale/in.inverse_scale", "unscale",
          "window " + std::to_string(w) + " ran with scale " + std::to_string(scale) + " and was divided by another");
    }
    const Tensor* next = judged.trace.find(at + "/scaler/scale");
    scale = next ? next->value(0) : scale;
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case constant = c;
  constant.recipe.loss_scale.options["growth_interval"] = std::int64_t{100};
  return bits_differ(run(c, subject), run(constant, subject), {"loss", "backward"});
}

const RegisterLaw registered{{
    .name = "unscaled_by_the_windows_scale",
    .family = "loss scaling",
    .statement = "Every window is unscaled once, by the scale that it was run with.",
    .shape = shape,
    .holds = holds,
    .control = "a scale that stays gives other scaled gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::unscaled_by_the_windows_scale_law
