// Law: recomputation keeps adapters training. Behind layers that stand still the forward pass runs again for backward,
// although what enters there needs no gradient: every gradient keeps its bits, and none is lost.
#include "properties/generators/adapters.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::recomputation_keeps_adapters_training_law {
namespace {

void shape(Plan& plan) {
  add_adapters(plan);
  plan.execution.recompute = true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (adapted_layers(c.model).empty()) return not_for("a frozen layer that has an adapter");
  CheckedRun again = run_and_check(c, subject);
  if (again.outcome.status == Status::not_run) return again.outcome;
  require_equal_bits(again.outcome, run(without_recomputation(c), subject), again.trace,
                     {"backward", "fork", "accumulate", "optimizer"},
                     "running the forward pass again changed an adapter's gradient");
  return settled(std::move(again.outcome));
}

/// Another input has other gradients.
bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"backward"});
}

const RegisterLaw registered{{
    .name = "recomputation_keeps_adapters_training",
    .family = "adapters",
    .statement = "Behind frozen layers, running the forward pass again loses no adapter's gradient.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::recomputation_keeps_adapters_training_law
