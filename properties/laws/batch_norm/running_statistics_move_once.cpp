// Law: running statistics move once per micro-batch (once per window with `window` statistics), also when the forward
// pass is run again for the backward pass.
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::running_statistics_move_once_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, plan.seed % 2 == 0 ? "micro_batch" : "window");
  at_least_micro_batches(plan, 2);
  plan.execution.recompute = true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun twice = run_and_check(c, subject);
  if (twice.outcome.status == Status::not_run) return twice.outcome;
  require_equal_bits(twice.outcome, run(without_recomputation(c), subject), twice.trace, {"running_stats", "unscale"},
                     "running the forward pass again changed the result");
  return settled(std::move(twice.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"running_stats"});
}

const RegisterLaw registered{{
    .name = "running_statistics_move_once",
    .family = "BatchNorm",
    .statement = "Running statistics move as often as defined, also when the forward pass is run again.",
    .shape = shape,
    .holds = holds,
    .control = "another input moves the running statistics elsewhere",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::running_statistics_move_once_law
