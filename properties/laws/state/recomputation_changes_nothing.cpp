// Law: running the forward pass again for the backward pass changes no bit of the gradient: masks, statistics and
// products repeat, of all layers and of some alone.
#include "properties/generators/attention_plan.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::recomputation_changes_nothing_law {
namespace {

void shape(Plan& plan) {
  if (plan.seed % 4 == 1) {
    attend(plan);
    for (Layer& l : plan.hidden)
      if (l.kind == "attention") l.options["p"] = Decimal{"0.5"};
  }
  plan.execution.recompute = true;
  plan.recomputes_some = plan.seed % 3 != 0;
  if (plan.seed % 2 != 0) return;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{6}}}), layer("relu"),
                 layer("dropout", "drop1", {{"p", Decimal{"0.5"}}}), layer("linear", "fc2", {{"out", std::int64_t{4}}}),
                 layer("tanh")};
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun again = run_and_check(c, subject);
  if (again.outcome.status == Status::not_run) return again.outcome;
  require_equal_bits(again.outcome, run(without_recomputation(c), subject), again.trace,
                     {"backward", "fork", "running_stats", "unscale", "optimizer"},
                     "running the forward pass again changed the result");
  return settled(std::move(again.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(without_recomputation(with_other_input(c)), subject), {"backward"});
}

const RegisterLaw registered{{
    .name = "recomputation_changes_nothing",
    .family = "state",
    .statement = "Running the forward pass again for the backward pass changes no bit.",
    .shape = shape,
    .holds = holds,
    .control = "another input without recomputation gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::recomputation_changes_nothing_law
