// Law: for recipes that divide by the window's items, accumulated micro-batches give the full batch's update, however
// the batch is cut.   Σ_k s_k / N does not depend on the cut. Vacuous where the propagated bound exceeds the gradient;
// the local lens then still certifies both runs.
#include "properties/laws/full_batch.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::partition_equals_full_batch_law {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  no_micro_batch_statistics(plan);
  at_least_micro_batches(plan, 2);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome =
      against_full_batch(c, subject, "the exact accumulated gradient is not the exact full-batch gradient");
  if (outcome.status == Status::not_run) return outcome;
  outcome = settled(std::move(outcome));
  return full_batch_of(c).windows == c.windows
             ? vacuous(std::move(outcome), "every window is one micro-batch: nothing is cut")
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
    .weight = 1.5,
}};

}  // namespace
}  // namespace tally::partition_equals_full_batch_law
