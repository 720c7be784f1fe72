// Laws of weights: micro-batches and rows count by their items and classes.
#include <algorithm>
#include <vector>

#include "oracle/exact/answer.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: micro-batches with unequal, zero and ignored items are weighted by their items.   Σ_k s_k / Σ_k n_k
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

// Law: with equal items in every micro-batch the mean of means is the mean: no gap to the full batch.
//   (1/K) Σ s_k / n = Σ s_k / (K n);   the control takes unequal ones, where it is not
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

// Law: a last window with fewer micro-batches and fewer rows divides by its own items.   Σ_{k<r} s_k / N_tail, r < K
namespace tally::short_tail_window_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 3);
  at_least_windows(plan, 2);
  plan.windows.back() = {2, 3};
  plan.normalisation = plan.seed % 2 == 0 ? Normalisation::mean_of_means : Normalisation::window_items;
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case real = c, configured = c;
  real.normalisation = Normalisation::mean_of_means;
  configured.normalisation = Normalisation::mean_of_means_configured;
  return bits_differ(run(real, subject), run(configured, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "short_tail_window",
    .family = "equivalence",
    .statement = "A short last window divides by its own micro-batches and items.",
    .shape = shape,
    .holds = holds,
    .control = "dividing the tail by the configured K gives other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::short_tail_window_law

// Law: the weight of a row's class scales its loss and its gradient, with and without label smoothing.
namespace tally::class_weights_scale_their_rows_law {
namespace {

/// One weight for each class: halves, quarters and whole numbers by turns, none of them equal to its neighbour.
std::vector<Decimal> weights_of(const Plan& plan) {
  static const std::vector<Decimal> drawn = {Decimal{"0.5"}, Decimal{"3"}, Decimal{"1.25"}, Decimal{"0.1"}};
  std::vector<Decimal> weights;
  for (std::int64_t i = 0; i < plan.outputs; ++i) {
    weights.push_back(drawn[(plan.seed + static_cast<std::uint64_t>(i)) % drawn.size()]);
  }
  return weights;
}

void shape(Plan& plan) {
  plan.outputs = std::max<std::int64_t>(plan.outputs, 2);
  const Decimal smoothing{plan.seed % 2 == 0 ? "0" : "0.1"};
  plan.loss = choice("loss", "cross_entropy", {{"weight", weights_of(plan)}, {"label_smoothing", smoothing}});
  plan.ignored_percent = plan.seed % 3 == 0 ? 30 : 0;
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case plain = c;
  plain.model.loss.options["weight"] = std::vector<Decimal>{};
  return bits_differ(run(c, subject), run(plain, subject), {"loss"});
}

const RegisterLaw registered{{
    .name = "class_weights_scale_their_rows",
    .family = "equivalence",
    .statement = "The weight of its class scales a row's loss and gradient, smoothed or not.",
    .shape = shape,
    .holds = holds,
    .control = "without class weights the losses are others",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::class_weights_scale_their_rows_law
