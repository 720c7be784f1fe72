// Law: under a dynamic scale a window is skipped for an element that is not finite, and for nothing else: not for a
// finite one whose square, or whose sum with others, overflows.
//   2^64 < |g| < 2^127: g g is infinite, g is not. Vacuous where no gradient is so large (fp16 holds none)
#include <cmath>

#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::large_gradients_are_no_overflow_law {
namespace {

void shape(Plan& plan) {
  static const char* norms[] = {"1", "inf", "2"};
  linear_layers_only(plan);
  usual_formats(plan);
  plan.hidden.clear();
  at_least_windows(plan, 2);
  plan.normalisation = Normalisation::window_items;
  plan.gradient_magnitude = format_row(plan.precision.storage).has_range_of_fp32() ? 0x1p45 : 0x1p6;
  plan.recipe.loss_scale =
      choice("loss_scale", "dynamic", {{"initial", Decimal{"4"}}, {"growth_interval", std::int64_t{2}}});
  plan.recipe.clip =
      choice("clip", "global_norm", {{"max_norm", Decimal{"1"}}, {"norm", std::string(norms[plan.seed / 2 % 3])}});
  if (plan.seed % 2 == 0) {
    plan.execution.kernels["unscale_check_norm"] = "multi_tensor";
    plan.execution.kernels.erase("norm");
  }
}

double largest_gradient(const Case& c, const Trace& trace) {
  double largest = 0;
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* gradient = trace.find("w0/unscale/d." + parameter);
    for (std::size_t i = 0; gradient && i < gradient->elements(); ++i)
      largest = std::fmax(largest, std::fabs(gradient->value(i)));
  }
  return largest;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Tensor* found = judged.trace.find("w0/overflow_check/found");
  const double largest = largest_gradient(c, judged.trace);
  require(judged.outcome, found && (found->integer(0) == 0) == (largest > 0 && std::isfinite(largest)),
          "w0/overflow_check/found", "overflow_check", "a window whose gradients are finite was skipped");
  Outcome outcome = settled(std::move(judged.outcome));
  return largest > 0x1p64 ? outcome : vacuous(std::move(outcome), "no gradient's square overflows");
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "large_gradients_are_no_overflow",
    .family = "loss scaling",
    .statement = "A window is skipped for an element that is not finite, not for the square of a finite one.",
    .shape = shape,
    .holds = holds,
    .control = "another input has another gradient",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::large_gradients_are_no_overflow_law
