// Law: in whichever order ranks go on, every bit is the same, and none waits for ever.   An algorithm of a declared
// order adds in that order, whoever comes first.
#include "oracle/case/rank_keys.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::arrival_changes_nothing_law {
namespace {

const std::vector<std::string> everything{"count",      "cast",      "forward", "running_stats", "loss", "backward",
                                          "accumulate", "reduce",    "agree",   "unscale",       "norm", "clip",
                                          "decay",      "optimizer", "scaler",  "schedule"};

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  for (const std::int64_t arrival : {0, 1, 2, 3})
    require_equal_bits(first.outcome, first.trace, run(with_rank_option(c, "arrival", arrival), subject), everything,
                       "ranks that went on in another order left other bits");
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"reduce"});
}

const RegisterLaw registered{{
    .name = "arrival_changes_nothing",
    .family = "ranks",
    .statement = "In whichever order ranks go on, every bit is the same, and none waits for ever.",
    .shape = dealt_to_ranks_by_any_normalisation,
    .holds = holds,
    .control = "one row of x changed gives other sums",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::arrival_changes_nothing_law
