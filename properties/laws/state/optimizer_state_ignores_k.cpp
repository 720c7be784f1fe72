// Law: moments, momentum and step count do not depend on K. On exact data, where equal means equal bits, a window in
// one micro-batch leaves the same state as the same window in many.
//   v(Σ_k s_k) = v(s): the optimizer sees the sum alone
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::optimizer_state_ignores_k_law {
namespace {

void shape(Plan& plan) {
  exact_arithmetic(plan);
  plan.windows.push_back(plan.windows.front());
  if (plan.seed % 2 != 0) plan.recipe.optimizer = choice("optimizer", "adam");
  if (plan.seed % 2 == 0) plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0"}}});
}

/// A 16-bit gradient of all rows at once may round where its parts do not.
bool same_sums(const Trace& a, const Trace& b) { return !bits_differ(a, b, {"unscale"}); }

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun cut = run_and_check(c, subject);
  if (cut.outcome.status == Status::not_run) return cut.outcome;
  const CheckedRun whole = run_and_check(full_batch_of(c), subject);
  add(cut.outcome, whole.outcome);
  const bool same = c.precision.storage == Dtype::fp32 || same_sums(whole.trace, cut.trace);
  if (same) {
    require_equal_bits(cut.outcome, whole.trace, cut.trace, {"unscale", "optimizer", "schedule"},
                       "the state after the window depends on how it was cut");
  }
  Outcome outcome = settled(std::move(cut.outcome));
  return !same ? vacuous(std::move(outcome), "the gradient of all rows at once rounds in 16 bits") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(full_batch_of(with_other_input(c)), subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "optimizer_state_ignores_k",
    .family = "state",
    .statement = "Optimizer state does not depend on the number of micro-batches.",
    .shape = shape,
    .holds = holds,
    .control = "another row of x leaves another state",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::optimizer_state_ignores_k_law
