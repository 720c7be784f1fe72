// Law: with equal items in every micro-batch the mean of means is the mean: no gap to the full batch.
//   (1/K) Σ s_k / n = Σ s_k / (K n);   the control takes unequal ones, where it is not
#include <algorithm>

#include "oracle/window/gap.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::equal_sizes_make_means_agree_law {
namespace {

void shape(Plan& plan) {
  no_micro_batch_statistics(plan);
  at_least_micro_batches(plan, 2);
  for (auto& window : plan.windows) window.assign(window.size(), std::max<std::int64_t>(window.front(), 2));
  plan.normalisation = Normalisation::mean_of_means;
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.loss = choice("loss", plan.loss.kind);  // no row weighs more than another, none is ignored
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome = run_and_check(c, subject).outcome;
  if (outcome.status == Status::not_run) return outcome;
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(outcome, outcome.semantic_gap == 0, "w0/semantic_gap", "loss",
          "equal micro-batches leave a gap between the mean of means and the full batch");
  return settled(std::move(outcome));
}

/// One row moves from the first micro-batch to the second.
bool differs(const Case& c, const RunOptions&) {
  Case unequal = c;
  for (const Layer& l : c.model.layers) {
    if (l.kind == "batch_norm") return false;
  }
  --unequal.windows[0][0];
  ++unequal.windows[0][1];
  return oracle::first_gradient_gap(unequal) > 0;
}

const RegisterLaw registered{{
    .name = "equal_sizes_make_means_agree",
    .family = "equivalence",
    .statement = "With equal items in every micro-batch the mean of means equals the full batch.",
    .shape = shape,
    .holds = holds,
    .control = "unequal micro-batches leave a gap",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::equal_sizes_make_means_agree_law
