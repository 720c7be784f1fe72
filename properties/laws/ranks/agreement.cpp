// Laws of agreement: ranks give the full batch's update, and hold and decide the same.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: ranks that each accumulate micro-batches and then add up their buffers give the full batch's update, however the
// micro-batches are dealt, to one rank too.   sum_r sum_k s_rk / N does not depend on who has which.
namespace tally::ranks_equal_full_batch_law {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  at_least_micro_batches(plan, 2);
  dealt_to_ranks(plan);
  freeze_batch_norm(plan);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  Outcome outcome =
      against_full_batch(c, subject, "the exact gradient of all ranks is not the exact full-batch gradient");
  return outcome.status == Status::not_run ? outcome : settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "ranks_equal_full_batch",
    .family = "ranks",
    .statement = "Ranks that add up their buffers give the full batch's update, however micro-batches are dealt.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::ranks_equal_full_batch_law

// Law: behind every window all ranks hold the same parameters, optimizer state, scale, decision and step, bit for bit,
// and begin the next with the same running values where these are the first rank's.
// Two ranks may both lie inside their bounds and yet part: then they train two models.
namespace tally::ranks_agree_law {
namespace {

/// Running values that the first rank moves by its own micro-batches, and hands to the others.
void first_running(Plan& plan) {
  for (Layer& layer : plan.hidden)
    if (takes_step_statistics(layer)) layer.options["statistics"] = std::string("micro_batch");
  forget_running(plan.hidden);
}

void shape(Plan& plan) {
  if (plan.seed % 2 == 1) with_batch_norm(plan, "micro_batch");  // else few cases move running values
  at_least_windows(plan, 2);
  dealt_to_ranks_by_any_normalisation(plan);
  if (plan.seed % 4 == 1) first_running(plan);
}

/// The taps of `rank` that no rank may hold otherwise, named as rank 0's, of windows that `other` trains too.
Trace shared_by(const Case& c, const Trace& trace, int rank, int other) {
  const auto both = [&](int window) {
    return std::max(rank, other) < static_cast<int>(ranks_of(c, static_cast<std::size_t>(window)));
  };
  Trace own;
  own.claims = trace.claims;
  for (const Tap& tap : trace.taps())
    if (tap.name.rank == rank && both(tap.name.window) && is_shared(c, tap.name))
      own.add(of_rank(tap.name, 0), tap.value);
  return own;
}

const std::vector<std::string> shared{"sync_statistics", "running_stats", "accumulate", "reduce",    "agree",
                                      "unscale",         "norm",          "clip",       "decay",     "optimizer",
                                      "gather_updated",  "scaler",        "schedule",   "checkpoint"};

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  // In whatever order a sum was made, it was made once.
  first.trace.claims.kernels.erase("reduce");
  for (int rank = 1; rank < static_cast<int>(most_ranks_of(c)); ++rank)
    require_equal_bits(first.outcome, shared_by(c, first.trace, 0, rank), shared_by(c, first.trace, rank, 0), shared,
                       "rank " + std::to_string(rank) + " holds other bits than rank 0");
  return settled(std::move(first.outcome));
}

/// One bit of one rank's parameter.
bool differs(const Case& c, const RunOptions& subject) {
  const Trace trace = run(c, subject);
  const Trace expected = shared_by(c, trace, 0, 1), second = shared_by(c, trace, 1, 0);
  Trace other;
  other.claims = trace.claims;
  bool flipped = false;
  for (const Tap& tap : second.taps()) {
    Tensor value = tap.value;
    if (!flipped && tap.name.stage == "schedule" && tap.name.tensor == "learning_rate") {
      value.set_bits(0, value.bits(0) ^ 1);
      flipped = true;
    }
    other.add(tap.name, std::move(value));
  }
  return flipped && !bits_differ(expected, second, shared) && bits_differ(expected, other, shared);
}

const RegisterLaw registered{{
    .name = "ranks_agree",
    .family = "ranks",
    .statement = "Behind every window all ranks hold the same parameters, state, scale and step, bit for bit.",
    .shape = shape,
    .holds = holds,
    .control = "one flipped bit of one rank is seen",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::ranks_agree_law

// Law: where ranks share the optimizer, the norm that gradients are clipped by is that of all pieces, the same bits on
// every rank.   The squares of a sum of pieces are the sum of the pieces' squares, each piece counted once.
namespace tally::norm_spans_ranks_law {
namespace {

/// A clip by norm that is active, now and then over the largest element alone.
void shape(Plan& plan) {
  dealt_to_ranks(plan);
  if (rank_word(plan.execution, "communicate") == "running_total") communicate(plan, "window");
  share(plan, "optimizer");
  const char* const norms[] = {"2", "2", "1", "inf"};
  plan.recipe.clip = choice("clip", "global_norm",
                            {{"max_norm", Decimal{"0.015625"}}, {"norm", std::string(norms[plan.seed / 3 % 4])}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c) || !clips_by_norm(c.recipe.clip)) return not_for(needs_ranks);
  Outcome all;
  for (const std::string word : {"squares", "norms"}) {
    const Case each = with_rank_option(shared_as(c, "optimizer"), "reduce.norm", word);
    CheckedRun run = run_and_check(each, subject);
    if (run.outcome.status == Status::not_run) return run.outcome;
    add(all, std::move(run.outcome));
  }
  return settled(std::move(all));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"norm", "reduce"});
}

const RegisterLaw registered{{
    .name = "norm_spans_ranks",
    .family = "ranks",
    .statement = "Where ranks share the optimizer they clip by one norm over the pieces of all.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::norm_spans_ranks_law

// Law: where the gradient of one rank overflows, every rank skips that step, once: scale, counters and rate agree, and
// none waits for ever.   inf + x is not finite, so that the sum over ranks shows it to all; and found is the or of all.
namespace tally::overflow_on_one_rank_skips_all_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  dealt_to_ranks(plan);
}

bool any_finds(const Case& c, const Trace& trace) {
  for (int rank = 0; rank < static_cast<int>(ranks_of(c, 0)); ++rank) {
    const Tensor* found = trace.find(TapView{0, -1, "overflow_check", "found", rank});
    if (found != nullptr && found->integer(0) == 1) return true;
  }
  return false;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  if (first.outcome.status != Status::fail && !any_finds(c, first.trace))
    return not_for("a case in which the gradient of a rank overflows");
  for (int rank = 0; rank < static_cast<int>(ranks_of(c, 0)); ++rank) {
    const Tensor* found = first.trace.find(TapView{0, -1, "agree", "found", rank});
    require(first.outcome, found != nullptr && found->integer(0) == 1, "w0/agree/found", "agree",
            "rank " + std::to_string(rank) + " did not hear of an overflow on another rank");
    for (const std::string& p : parameters_of(c.model))
      require(first.outcome, first.trace.find(TapView{0, -1, "optimizer", p, rank}) == nullptr, "w0/optimizer/" + p,
              "optimizer", "rank " + std::to_string(rank) + " took a step that all were to skip");
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"reduce"});
}

const RegisterLaw registered{{
    .name = "overflow_on_one_rank_skips_all",
    .family = "ranks",
    .statement = "Where one rank's gradient overflows every rank skips the step, and scale and counters agree.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other sums",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::overflow_on_one_rank_skips_all_law
