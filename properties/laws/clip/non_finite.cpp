// Laws of gradients that are not finite: neither norm nor clip hides them.
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: a gradient that is not finite stays so through norm and clip, where no dynamic scale skips the window: nobody
// trains on in silence.   inf · (c / inf) = NaN, NaN · c = NaN, max(NaN, x) = NaN
// Vacuous where the drawn gradient is finite after all.
namespace tally::non_finite_norm_is_not_hidden_law {
namespace {

void shape(Plan& plan) {
  static const char* norms[] = {"2", "1", "inf"};
  overflow_in_first_micro_batch(plan);
  plan.windows.resize(1);
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.recipe.loss_scale =
      choice("loss_scale", "static", {{"scale", Decimal{narrow ? "65536" : "1152921504606846976"}}});
  plan.recipe.clip =
      choice("clip", "global_norm", {{"max_norm", Decimal{"1"}}, {"norm", std::string(norms[plan.seed % 3])}});
  plan.execution.kernels.erase("clip_decay_step");  // it writes no gradient between clip and step
}

/// How many elements of a stage's gradients are NaN, and how many are NaN or infinite.
struct Census {
  std::size_t nan = 0, non_finite = 0;
};

Census census_of(const Case& c, const Trace& trace, const std::string& stage) {
  Census census;
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* gradient = trace.find("w0/" + stage + "/d." + parameter);
    for (std::size_t i = 0; gradient && i < gradient->elements(); ++i) {
      census.nan += std::isnan(gradient->value(i));
      census.non_finite += !std::isfinite(gradient->value(i));
    }
  }
  return census;
}

/// First what is said of the norm itself, so that its failure is named before what follows from it.
Outcome holds(const Case& c, const RunOptions& subject) {
  const CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Census before = census_of(c, judged.trace, "unscale"), after = census_of(c, judged.trace, "clip");
  const Tensor* norm = judged.trace.find("w0/norm/norm");
  Outcome outcome;
  require(
      outcome, norm && (before.non_finite == 0 || !std::isfinite(norm->value(0))), "w0/norm/norm", "norm",
      "the norm of a gradient with " + std::to_string(before.non_finite) + " elements that are not finite is finite");
  require(outcome, norm && (before.nan == 0 || std::isnan(norm->value(0))), "w0/norm/norm", "norm",
          "the norm of a gradient with NaN is a number");
  add(outcome, judged.outcome);
  require(outcome, after.non_finite >= before.non_finite, "w0/clip/non_finite", "clip",
          "fewer elements are not finite after the clip than before it");
  outcome = settled(std::move(outcome));
  return before.non_finite == 0 ? vacuous(std::move(outcome), "the gradient is finite") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case tame = c;
  Tensor& x = tame.tensors.at("x");
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.model.input); ++i) x.set(i, 0);
  tame.recipe.loss_scale.options["scale"] = Decimal{"1"};
  return census_of(c, run(c, subject), "unscale").non_finite > 0 &&
         census_of(c, run(tame, subject), "unscale").non_finite == 0;
}

const RegisterLaw registered{{
    .name = "non_finite_norm_is_not_hidden",
    .family = "clipping",
    .statement = "A gradient that is not finite stays visible through norm and clip.",
    .shape = shape,
    .holds = holds,
    .control = "the same case without the large row has a finite gradient",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::non_finite_norm_is_not_hidden_law

// Law: one column of a gradient that is not finite, wherever it stands, makes the norm not finite.
// The last feature of one row is huge, its weights are zero: outputs stay small, and of all gradients only that
// column's overflow. Vacuous where they stay finite.
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
