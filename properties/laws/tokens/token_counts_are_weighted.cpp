// Law: micro-batches of tokens count by the tokens that are scored.   Σ_k s_k / Σ_k n_k
// Sequences of unequal lengths, labels that are ignored, and a micro-batch of nothing else: n_k counts the labels behind
// the shift, which never leaves its sequence.
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  unequal_micro_batches(plan);
  read_tokens(plan);
  plan.ignored_percent = plan.seed % 3 == 0 ? 0 : 30;
  plan.empty_micro_batch = plan.seed % 4 == 0;
}

/// The items of every micro-batch of a window.
std::vector<double> items_of(const Case& c, std::size_t window) {
  std::vector<double> items;
  for (std::size_t k = 0; k < c.windows[window].size(); ++k) {
    double sum = 0;
    for (std::int64_t i = 0; i < c.windows[window][k]; ++i)
      sum += item_weight(c, first_row(c, window, k) + i).to_double();
    items.push_back(sum);
  }
  return items;
}

/// All micro-batches of every window have the same items: the mean of means would pass too.
bool has_equal_items(const Case& c) {
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::vector<double> items = items_of(c, w);
    if (items != std::vector<double>(items.size(), items.front())) return false;
  }
  return true;
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
}  // namespace tally
