// Law: micro-batches with unequal, zero and ignored items are weighted by their items.   Σ_k s_k / Σ_k n_k
#include "properties/generators/choices.hpp"
#include "properties/laws/item_counts.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::unequal_items_are_weighted_law {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  no_micro_batch_statistics(plan);
  unequal_micro_batches(plan);
  if (plan.seed % 3 == 0) {
    plan.loss = choice("loss", "mse", {{"item_weights", true}});
  } else {
    plan.outputs = std::max<std::int64_t>(plan.outputs, 2);
    plan.loss = choice("loss", "cross_entropy");
    plan.ignored_percent = 30;
  }
  plan.empty_micro_batch = plan.seed % 2 == 0;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  add(outcome, run_and_check(full_batch_of(c), subject).outcome);
  outcome = settled(std::move(outcome));
  return has_equal_items(c) ? vacuous(std::move(outcome), "all micro-batches have equal items") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.normalisation = Normalisation::mean_of_means;
  return bits_differ(run(c, subject), run(other, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "unequal_items_are_weighted",
    .family = "equivalence",
    .statement = "Micro-batches with unequal, zero and ignored items count by their items.",
    .shape = shape,
    .holds = holds,
    .control = "mean_of_means on the same unequal items gives other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::unequal_items_are_weighted_law
