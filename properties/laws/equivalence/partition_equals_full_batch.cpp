// Law: for recipes that divide by the window's items, accumulated micro-batches give the full batch's update, however
// the batch is cut.   Σ_k s_k / N does not depend on the cut. Vacuous where the propagated bound exceeds the gradient;
// the local lens then still certifies both runs.
#include "oracle/window/gap.hpp"
#include "properties/compare/two_runs.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  no_micro_batch_statistics(plan);
  at_least_micro_batches(plan, 2);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Case whole = full_batch_of(c);
  CheckedRun apart = run_and_check(c, subject), together = run_and_check(whole, subject);
  Outcome outcome = std::move(apart.outcome);
  add(outcome, together.outcome);
  if (outcome.status == Status::not_run) return outcome;
  TwoRuns runs = compare_runs(c, apart.trace, whole, together.trace);
  for (TensorCheck& check : runs.checks) add(outcome, std::move(check));
  outcome.decision_drift = runs.decision_drift;
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(outcome, outcome.semantic_gap == 0, "w0/semantic_gap", "loss",
          "the exact accumulated gradient is not the exact full-batch gradient");
  outcome = settled(std::move(outcome));
  return whole.windows == c.windows ? vacuous(std::move(outcome), "every window is one micro-batch: nothing is cut")
                                    : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.normalisation = Normalisation::mean_of_means;
  return bits_differ(run(c, subject), run(other, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "partition_equals_full_batch",
    .family = "equivalence",
    .statement = "Accumulated micro-batches give the full batch's update, however the batch is cut.",
    .shape = shape,
    .holds = holds,
    .control = "mean_of_means on the same cut gives other gradients",
    .differs = differs,
    .weight = 2,
}};

}  // namespace
}  // namespace tally
