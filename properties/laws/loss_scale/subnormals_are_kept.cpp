// Law: gradients below the normal range of fp16 are not flushed to zero: the bound down there is half a unit of the
// last place, not the smallest normal number.
// A loss scale below 1 moves the gradients there. Vacuous where no stored gradient is subnormal (fp32 always).
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::subnormals_are_kept_law {
namespace {

void shape(Plan& plan) {
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{5}}}), layer("tanh")};
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{"0.00048828125"}}});  // 2^-11
}

std::size_t subnormal(const Trace& trace) {
  std::size_t count = 0;
  for (const Tap& tap : trace.taps()) {
    if (tap.value.dtype != Dtype::fp16 || tap.name.tensor != "d.y") continue;
    for (std::size_t i = 0; i < tap.value.elements(); ++i) {
      const double size = std::fabs(tap.value.value(i));
      count += size > 0 && size < 0x1p-14;
    }
  }
  return count;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::pass && subnormal(judged.trace) == 0) {
    judged.outcome.status = Status::vacuous;
    judged.outcome.message = "no stored gradient is subnormal";
  }
  return judged.outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case scaled = c;
  scaled.recipe.loss_scale.options["scale"] = Decimal{"1024"};
  return subnormal(run(c, subject)) > subnormal(run(scaled, subject));
}

const RegisterLaw registered{{
    .name = "subnormals_are_kept",
    .family = "loss scaling",
    .statement = "Gradients below the normal range are kept, not flushed to zero.",
    .shape = shape,
    .holds = holds,
    .control = "a large scale lifts them out of the subnormal range",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::subnormals_are_kept_law
