// Law: behind every window all ranks hold the same parameters, optimizer state, scale, decision and step, bit for bit,
// and begin the next with the same running values where these are the first rank's.
// Two ranks may both lie inside their bounds and yet part: then they train two models.
#include <algorithm>

#include "oracle/case/micro_steps.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/running_values.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
