// Laws of statistics that ranks share of a micro-step.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/exact/answer.hpp"
#include "properties/generators/launch_designs.hpp"
#include "properties/judge/two_runs.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: a batch_norm of micro_step statistics takes the rows of the k-th micro-batches of all ranks as one, forward and
// backward, whoever has how many of them: a training on one rank whose micro-batches are those rows is the same in exact
// arithmetic, gradients, parameters and running values, and both runs agree within both bounds. Where a window has one
// micro-step there is no gap to the full batch; else its size is reported.
namespace tally::micro_step_statistics_pool_law {
namespace {

/// One row in some micro-batches: a micro-step needs no more of a rank.
void single_rows(Plan& plan) {
  for (auto& window : plan.windows)
    for (std::size_t k = plan.seed % 2; k < window.size(); k += 2) window[k] = 1;
}

void shape(Plan& plan) {
  plan.tokens = {};
  plan.normalisation = Normalisation::window_items;
  with_batch_norm(plan, "micro_step");
  unequal_micro_batches(plan);
  if (plan.seed / 4 % 3 != 0) single_rows(plan);
  dealt_to_ranks(plan);
}

/// The rows of x in the order of window, micro-step, rank.
std::vector<std::int64_t> rows_by_step(const Case& c) {
  std::vector<std::int64_t> rows;
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    for (std::size_t step = 0; step < micro_steps_of(c, w); ++step)
      for (std::size_t rank = 0; rank < ranks_of(c, w); ++rank) {
        if (step >= micro_batches_of(c, w, rank)) continue;
        const std::size_t k = first_micro_batch_of(c, w, rank) + step;
        for (std::int64_t i = 0; i < c.windows[w][k]; ++i) rows.push_back(first_row(c, w, k) + i);
      }
  return rows;
}

Tensor in_order(const Tensor& tensor, const std::vector<std::int64_t>& rows) {
  Tensor ordered(tensor.dtype, tensor.shape);
  const std::size_t width = tensor.bytes.size() / rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::byte* const from = tensor.bytes.data() + static_cast<std::size_t>(rows[i]) * width;
    std::copy(from, from + width, ordered.bytes.data() + i * width);
  }
  return ordered;
}

/// One rank that has every micro-step as a micro-batch, whose statistics are its own.
Case steps_as_micro_batches(const Case& c) {
  Case one = on_one_rank(c);
  const std::vector<std::int64_t> rows = rows_by_step(c);
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    one.windows[w].clear();
    for (std::size_t step = 0; step < micro_steps_of(c, w); ++step) one.windows[w].push_back(rows_of_step(c, w, step));
  }
  for (auto& [name, tensor] : one.tensors)
    if (has_rows(name)) tensor = in_order(c.tensors.at(name), rows);
  for (Layer& layer : one.model.layers)
    if (takes_step_statistics(layer)) layer.options["statistics"] = std::string("micro_batch");
  return one;
}

bool has_one_step(const Case& c) { return micro_steps_of(c, 0) == 1; }

Outcome holds(const Case& c, const RunOptions& subject) {
  const bool weighed = c.normalisation == Normalisation::window_items || c.normalisation == Normalisation::sum;
  if (!pools_steps(c) || !weighed || !c.sequences.empty())
    return not_for("ranks that share the statistics of their micro-steps, items weighed alike, no sequences");
  const Case one = steps_as_micro_batches(c);
  CheckedRun apart = run_and_check(c, subject), together = run_and_check(one, subject);
  Outcome outcome = std::move(apart.outcome);
  add(outcome, together.outcome);
  if (outcome.status == Status::not_run) return outcome;
  TwoRuns runs = compare_runs(c, apart.trace, one, together.trace);
  for (TensorCheck& check : runs.checks) add(outcome, std::move(check));
  outcome.decision_drift = runs.decision_drift;
  double gap = 0;
  for (const oracle::WindowGap& window : oracle::gap_between(c, one))
    gap = std::max({gap, window.gradient, window.parameter});
  require(outcome, gap == 0, "w0/semantic_gap", "sync_statistics",
          "the exact training of all ranks is not that of their micro-steps' rows on one");
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  const bool is_whole = has_one_step(c) && c.normalisation == Normalisation::window_items;
  require(outcome, !is_whole || outcome.semantic_gap == 0, "w0/semantic_gap", "sync_statistics",
          "statistics over all rows of a window leave a gap to the full batch");
  return settled(std::move(outcome));
}

/// Statistics of each rank's own rows, or, where it has one row, none.
bool differs(const Case& c, const RunOptions& subject) {
  bool single = false;
  for (const auto& window : c.windows)
    for (const std::int64_t rows : window) single = single || rows < 2;
  Case own = c;
  set_rank_option(own.execution, "statistics", std::string("moments"));
  for (Layer& layer : own.model.layers)
    if (takes_step_statistics(layer)) layer.options["statistics"] = std::string(single ? "frozen" : "micro_batch");
  return bits_differ(run(c, subject), run(own, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "micro_step_statistics_pool",
    .family = "ranks",
    .statement = "Synchronised BatchNorm takes the rows of a micro-step on all ranks as one, forward and backward.",
    .shape = shape,
    .holds = holds,
    .control = "statistics that ranks do not share give other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::micro_step_statistics_pool_law

// Law: what ranks make of a micro-step's statistics keeps its bound and its bits, whatever they hand over, at every size
// at which its kernels go another way.   Designed sizes, each way of sharing at each of them.
namespace tally::shared_statistics_keep_their_bound_law {
namespace {

void shape(Plan& plan) {
  dealt_to_ranks(plan);
  design_micro_steps(plan);
  plan.constant = (plan.seed / micro_step_designs + plan.seed) % 2 == 1;  // sums of squares leave a variance below zero
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!pools_steps(c)) return not_for("ranks that share the statistics of their micro-steps");
  Outcome outcome = run_and_check(c, subject).outcome;
  return outcome.status == Status::not_run ? outcome : settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"sync_statistics"});
}

const RegisterLaw registered{{
    .name = "shared_statistics_keep_their_bound",
    .family = "ranks",
    .statement = "Statistics that ranks share keep their bound and their bits, at every size that launches differ at.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other statistics",
    .differs = differs,
    .weight = 0.75,  // draws every design
    .designed = true,
}};

}  // namespace
}  // namespace tally::shared_statistics_keep_their_bound_law
