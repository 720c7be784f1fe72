// Law: ranks that share the optimizer, each moving its own pieces and handing them to the others, leave the bits of ranks
// that each move all; so do ranks that share the sums of gradients and the buffers too, and the parameters.   Every operation of a step is made on one element by one rank alone; only the norm adds in another
// order, so that of a clip by norm both are asked within their bounds alone.
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::sharding_changes_nothing_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  dealt_to_ranks_by_any_normalisation(plan);
  if (rank_word(plan.execution, "communicate") == "running_total") communicate(plan, "window");
  share(plan, "parameters");
}

/// The copies that the micro-batches of every window read, whole: what the last step left, whoever moved and keeps it.
Trace read_by_layers(const Case& c, const Trace& trace) {
  Trace own;
  own.claims = trace.claims;
  const Trace first = of_first_rank(c, trace);
  for (const Tap& tap : first.taps())
    if (tap.name.stage == "cast") own.add(tap.name, tap.value);
  return own;
}

/// Adds how `pieces` ran to `outcome`, and that it left the bits of `whole`.
void add_shared(Outcome& outcome, const Case& c, const Trace& whole, const RunOptions& subject) {
  CheckedRun pieces = run_and_check(c, subject);
  if (!clips_by_norm(c.recipe.clip))
    require_equal_bits(outcome, read_by_layers(shared_as(c, "none"), whole), read_by_layers(c, pieces.trace), {"cast"},
                       "ranks that share the " + rank_word(c, "sharding") + " left other bits than ranks that do not");
  add(outcome, std::move(pieces.outcome));
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun whole = run_and_check(shared_as(c, "none"), subject);
  if (whole.outcome.status == Status::not_run) return whole.outcome;
  add_shared(whole.outcome, shared_as(c, "optimizer"), whole.trace, subject);
  const Case each = with_rank_option(shared_as(c, "none"), "communicate", std::string("micro_batch"));
  if (!validate(each).empty()) return settled(std::move(whole.outcome));  // a case of a user's may not add up each
  const Trace of_each = run(each, subject);
  for (const char* word : {"gradients", "parameters"})
    add_shared(whole.outcome, shared_as(each, word), of_each, subject);
  return settled(std::move(whole.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"reduce"});
}

const RegisterLaw registered{{
    .name = "sharding_changes_nothing",
    .family = "ranks",
    .statement =
        "Ranks that share the optimizer, the gradients or the parameters leave what ranks with all of it leave.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other sums",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::sharding_changes_nothing_law
