// Law: nothing leaks from one window into the next: with a learning rate of zero, the same rows give the same gradient
// bits in both windows.
#include <algorithm>

#include "oracle/case/expected_tensors.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::windows_do_not_leak_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  plan.windows = {plan.windows.front(), plan.windows.front()};
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0"}}});
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.normalisation = Normalisation::window_items;
}

/// Both windows see the rows of the first.
Case with_repeated_rows(Case c) {
  const auto rows = static_cast<std::size_t>(first_row(c, 1));
  for (auto& [name, tensor] : c.tensors) {
    const bool by_row = has_rows(name);
    if (!by_row) continue;
    const std::size_t half = tensor.bytes.size() / 2;
    if (tensor.shape.empty() || static_cast<std::size_t>(tensor.shape[0]) != 2 * rows) continue;
    std::copy_n(tensor.bytes.begin(), half, tensor.bytes.begin() + static_cast<std::ptrdiff_t>(half));
    tensor.drawing.reset();
  }
  return c;
}

/// The gradients of both windows, where both were tapped.
void require_same_gradients(Outcome& outcome, const Case& c, const Trace& trace) {
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* first = trace.find("w0/unscale/d." + parameter);
    const Tensor* second = trace.find("w1/unscale/d." + parameter);
    const std::string name = "w1/unscale/d." + parameter;
    if (!first || !second) {
      require(outcome, false, name, "unscale", name + " was not tapped");
      continue;
    }
    // Frozen statistics excepted, running values feed nothing during training: equal rows, equal bits.
    require(outcome, *first == *second, name, "accumulate",
            "the same rows gave another gradient of " + parameter + " in the second window");
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Choice& rate = c.recipe.learning_rate;
  const bool still = rate.kind == "constant" && rate.number("base").to_double() == 0;
  if (c.windows.size() != 2 || c.windows[0] != c.windows[1] || !still) {
    return not_for("two windows of the same micro-batches and a learning rate of 0");
  }
  const Case repeated = with_repeated_rows(c);
  CheckedRun judged = run_and_check(repeated, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  require_same_gradients(judged.outcome, repeated, judged.trace);
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  const Trace trace = run(c, subject);
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* first = trace.find("w0/unscale/d." + parameter);
    const Tensor* second = trace.find("w1/unscale/d." + parameter);
    if (first && second && !(*first == *second)) return true;
  }
  return false;
}

const RegisterLaw registered{{
    .name = "windows_do_not_leak",
    .family = "equivalence",
    .statement = "Nothing leaks from one window into the next.",
    .shape = shape,
    .holds = holds,
    .control = "other rows in the second window give another gradient",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::windows_do_not_leak_law
