// Law: of two overflowing windows in a row each is skipped, the scale backs off twice, and the clean window after them
// takes its step.
// One feature of one row is huge in each of the two, its weights are zero: outputs stay small, and of all gradients
// only that column's weights overflow. Vacuous where they do not, or where the clean window does.
#include <cmath>

#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::overflows_in_a_row_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  plan.gradient_magnitude = 1;
  plan.windows = {{2, 1, 3}, {2, 2, 1}, {2, 2}};
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.recipe.loss_scale =
      choice("loss_scale", "dynamic",
             {{"initial", Decimal{narrow ? "4096" : "1152921504606846976"}}, {"growth_interval", std::int64_t{2}}});
}

/// The micro-batch that overflows, of three, follows from the data.
Case with_huge_elements(Case c) {
  Tensor &x = c.tensors.at("x"), &weight = c.tensors.at("out.weight");
  const auto inputs = static_cast<std::size_t>(c.model.input);
  const auto drawn = static_cast<std::size_t>(x.bits(0));
  for (const std::size_t window : {0u, 1u}) {
    const auto row = static_cast<std::size_t>(first_row(c, window, (drawn + window) % 3));
    x.set(row * inputs, format_row(c.precision.storage).has_range_of_fp32() ? 0x1p100 : 0x1p15);
  }
  for (std::size_t o = 0; o * inputs < weight.elements(); ++o) weight.set(o * inputs, 0);
  x.drawing.reset();
  weight.drawing.reset();
  return c;
}

/// -1 where it was not tapped.
std::int64_t found(const Trace& trace, std::size_t window) {
  const Tensor* flag = trace.find("w" + std::to_string(window) + "/overflow_check/found");
  return flag ? flag->integer(0) : -1;
}

bool overflows(const Case& c, const Trace& trace, std::size_t window) {
  const std::string last =
      "w" + std::to_string(window) + "/m" + std::to_string(c.windows[window].size() - 1) + "/accumulate/buffer.";
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* buffer = trace.find(last + parameter);
    for (std::size_t i = 0; buffer && i < buffer->elements(); ++i) {
      if (!std::isfinite(buffer->value(i))) return true;
    }
  }
  return false;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Case huge = with_huge_elements(c);
  CheckedRun judged = run_and_check(huge, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  std::vector<bool> overflow;
  for (std::size_t window = 0; window < huge.windows.size(); ++window) {
    overflow.push_back(overflows(huge, judged.trace, window));
    require(judged.outcome, found(judged.trace, window) == (overflow.back() ? 1 : 0), "overflow_check/found",
            "overflow_check", "window " + std::to_string(window) + " is not skipped just where it overflows");
  }
  if (overflow != std::vector<bool>{true, true, false})
    return vacuous(settled(std::move(judged.outcome)), "not the first two windows overflow, and they alone");
  const Tensor* first = judged.trace.find("w0/scaler/in.scale");
  const Tensor* last = judged.trace.find("w2/scaler/in.scale");
  require(judged.outcome, first && last && 4 * last->value(0) == first->value(0), "w2/scaler/in.scale", "scaler",
          "two windows overflowed and the scale is not a quarter of what it was");
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return found(run(c, subject), 0) == 0 && found(run(with_huge_elements(c), subject), 0) == 1;
}

const RegisterLaw registered{{
    .name = "overflows_in_a_row",
    .family = "loss scaling",
    .statement = "Two overflowing windows in a row are both skipped, and the clean one after them takes its step.",
    .shape = shape,
    .holds = holds,
    .control = "the same windows without the huge elements are not skipped",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::overflows_in_a_row_law
