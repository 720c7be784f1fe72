// Law: micro-batches of tokens count by the tokens that are scored.   Σ_k s_k / Σ_k n_k
// Sequences of unequal lengths, labels that are ignored, and a micro-batch of nothing else: n_k counts the labels behind
// the shift, which never leaves its sequence.
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/item_counts.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::token_counts_are_weighted_law {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  unequal_micro_batches(plan);
  read_tokens(plan);
  if (plan.tokens.tied) tie_more(plan);
  plan.ignored_percent = plan.seed % 3 == 0 ? 0 : 30;
  plan.empty_micro_batch = plan.seed % 4 == 0;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!c.model.tokens) return not_for("a model over tokens");
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
    .name = "token_counts_are_weighted",
    .family = "tokens",
    .statement = "Micro-batches of tokens count by the tokens that are scored, in sequences of any lengths.",
    .shape = shape,
    .holds = holds,
    .control = "mean_of_means on the same tokens gives other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::token_counts_are_weighted_law
