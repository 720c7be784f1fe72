// Law: two power-of-two loss scales give bitwise equal unscaled gradients, as long as nothing stored in 16 bits leaves
// the normal range in either run.   (2^a g) / 2^a = (2^b g) / 2^b Vacuous outside that range: there the underflow terms
// of the bound judge.
#include <cmath>

#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::loss_scale_cancels_law {
namespace {

/// Partial sums in a narrow format may leave the normal range where no tap shows it.
void shape(Plan& plan) {
  plan.precision.compute = Dtype::fp32;
  plan.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{"64"}}});
}

Case with_scale(Case c, const std::string& scale) {
  c.recipe.loss_scale.options["scale"] = Decimal{scale};
  return c;
}

bool is_normal_or_zero(const Tensor& tensor, std::size_t i) {
  const double v = std::fabs(tensor.value(i)), least = format_row(tensor.dtype).smallest_normal();
  return v == 0 || (v >= least && std::isfinite(v));
}

/// Every gradient that both runs store, and every sum of them, is normal in both, or zero in both.
bool inside_range(const Trace& a, const Trace& b) {
  for (const Tap& tap : a.taps()) {
    const std::string& stage = tap.name.stage;
    if (stage != "backward" && stage != "fork" && stage != "accumulate" && tap.name.tensor != "d.y") continue;
    const Tensor* other = b.find(tap.name.view());
    if (!other) continue;  // the comparison of bits names it
    for (std::size_t i = 0; i < tap.value.elements(); ++i) {
      if (!is_normal_or_zero(tap.value, i) || !is_normal_or_zero(*other, i)) return false;
      if ((tap.value.value(i) == 0) != (other->value(i) == 0)) return false;
    }
  }
  return true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun low = run_and_check(c, subject);
  if (low.outcome.status == Status::not_run) return low.outcome;
  const CheckedRun high = run_and_check(with_scale(c, "1024"), subject);
  add(low.outcome, high.outcome);
  const bool inside = inside_range(low.trace, high.trace);
  if (inside) {
    require_equal_bits(low.outcome, low.trace, high.trace, {"unscale"},
                       "the loss scale shows in the unscaled gradient");
  }
  Outcome outcome = settled(std::move(low.outcome));
  if (!inside && outcome.status == Status::pass) {
    outcome.status = Status::vacuous;
    outcome.message = "a stored gradient left the normal range";
  }
  return outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_scale(c, "1024"), subject), {"backward"});
}

const RegisterLaw registered{{
    .name = "loss_scale_cancels",
    .family = "loss scaling",
    .statement = "Power-of-two loss scales give bitwise equal unscaled gradients inside the normal range.",
    .shape = shape,
    .holds = holds,
    .control = "the scaled gradients themselves differ",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::loss_scale_cancels_law
