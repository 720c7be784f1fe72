// Laws of what is an overflow: any element that is not finite, and nothing else.
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: an overflow of any one element, in any micro-batch, skips the window. One feature of one row is huge, its
// weights are zero: outputs stay small, and of all gradients only that column's weights overflow.
// Vacuous where even that gradient stays finite.
namespace tally::overflow_anywhere_is_found_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  plan.gradient_magnitude = 1;
  plan.windows = {{2, 1, 3}, {2, 2}};
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.recipe.loss_scale =
      choice("loss_scale", "dynamic",
             {{"initial", Decimal{narrow ? "256" : "1152921504606846976"}}, {"growth_interval", std::int64_t{2}}});
}

/// The first window's micro-batch that overflows follows from the data.
Case with_one_huge_element(Case c) {
  Tensor &x = c.tensors.at("x"), &weight = c.tensors.at("out.weight");
  const auto inputs = static_cast<std::size_t>(c.model.input);
  const auto micro_batch = static_cast<std::size_t>(x.bits(0) % c.windows[0].size());
  const auto row = static_cast<std::size_t>(first_row(c, 0, micro_batch));
  x.set(row * inputs, format_row(c.precision.storage).has_range_of_fp32() ? 0x1p100 : 0x1p15);
  for (std::size_t o = 0; o * inputs < weight.elements(); ++o) weight.set(o * inputs, 0);
  x.drawing.reset();
  weight.drawing.reset();
  return c;
}

/// -1 where it was not tapped.
std::int64_t found(const Trace& trace, int window) {
  const Tensor* flag = trace.find("w" + std::to_string(window) + "/overflow_check/found");
  return flag ? flag->integer(0) : -1;
}

bool overflows(const Case& c, const Trace& trace) {
  for (const std::string& parameter : parameters_of(c.model)) {
    const std::string last = "w0/m" + std::to_string(c.windows[0].size() - 1) + "/accumulate/buffer.";
    const Tensor* buffer = trace.find(last + parameter);
    for (std::size_t i = 0; buffer && i < buffer->elements(); ++i) {
      if (!std::isfinite(buffer->value(i))) return true;
    }
  }
  return false;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Case huge = with_one_huge_element(c);
  CheckedRun judged = run_and_check(huge, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const bool overflow = overflows(huge, judged.trace);
  require(judged.outcome, found(judged.trace, 0) == (overflow ? 1 : 0), "w0/overflow_check/found", "overflow_check",
          "one element overflowed and the window was not skipped");
  Outcome outcome = settled(std::move(judged.outcome));
  return !overflow ? vacuous(std::move(outcome), "no element overflowed") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return found(run(c, subject), 0) == 0 && found(run(with_one_huge_element(c), subject), 0) == 1;
}

const RegisterLaw registered{{
    .name = "overflow_anywhere_is_found",
    .family = "loss scaling",
    .statement = "An overflow of one element in any micro-batch skips the whole window.",
    .shape = shape,
    .holds = holds,
    .control = "the same rows without the huge element take the step",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::overflow_anywhere_is_found_law

// Law: under a dynamic scale a window is skipped for an element that is not finite, and for nothing else: not for a
// finite one whose square, or whose sum with others, overflows.
//   2^64 < |g| < 2^127: g g is infinite, g is not. Vacuous where no gradient is so large (fp16 holds none)
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
