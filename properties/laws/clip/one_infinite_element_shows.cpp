// Law: one column of a gradient that is not finite, wherever it stands, makes the norm not finite.
// The last feature of one row is huge, its weights are zero: outputs stay small, and of all gradients only that
// column's overflow. Vacuous where they stay finite.
#include <cmath>

#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::one_infinite_element_shows_law {
namespace {

void shape(Plan& plan) {
  static const char* norms[] = {"2", "1", "inf"};
  linear_layers_only(plan);
  plan.hidden.clear();
  plan.input = std::max<std::int64_t>(plan.input, 2);
  plan.windows.resize(1);
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{narrow ? "256" : "1152921504606846976"}}});
  plan.recipe.clip =
      choice("clip", "global_norm", {{"max_norm", Decimal{"1"}}, {"norm", std::string(norms[plan.seed % 3])}});
}

Case with_one_huge_element(Case c) {
  Tensor &x = c.tensors.at("x"), &weight = c.tensors.at("out.weight");
  const auto inputs = static_cast<std::size_t>(c.model.input);
  x.set(inputs - 1, format_row(c.precision.storage).has_range_of_fp32() ? 0x1p100 : 0x1p15);
  for (std::size_t o = inputs - 1; o < weight.elements(); o += inputs) weight.set(o, 0);
  x.drawing.reset();
  weight.drawing.reset();
  return c;
}

bool overflows(const Trace& trace) {
  const Tensor* gradient = trace.find("w0/unscale/d.out.weight");
  for (std::size_t i = 0; gradient && i < gradient->elements(); ++i) {
    if (!std::isfinite(gradient->value(i))) return true;
  }
  return false;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(with_one_huge_element(c), subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Tensor* norm = judged.trace.find("w0/norm/norm");
  const bool overflow = overflows(judged.trace);
  require(judged.outcome, norm && (std::isfinite(norm->value(0)) != overflow), "w0/norm/norm", "norm",
          "the norm hides a gradient element that is not finite");
  Outcome outcome = settled(std::move(judged.outcome));
  return !overflow ? vacuous(std::move(outcome), "no gradient overflowed") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return !overflows(run(c, subject)) && overflows(run(with_one_huge_element(c), subject));
}

const RegisterLaw registered{{
    .name = "one_infinite_element_shows",
    .family = "clipping",
    .statement = "A gradient element that is not finite, wherever it stands, makes the norm not finite.",
    .shape = shape,
    .holds = holds,
    .control = "the same case without the huge element has a finite gradient",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::one_infinite_element_shows_law
