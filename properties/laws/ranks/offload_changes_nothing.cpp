// Law: a step on the host executor leaves the bits of a step on the device: every kernel of it is one source, whose
// operations round alike on both, and between them bits are copied.   Ranks, and one rank alone.
#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::offload_changes_nothing_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  dealt_to_ranks_by_any_normalisation(plan);
  plan.execution.schedule = 0;  // an order of launches; there are two of them where the step has its own
  set_rank_option(plan.execution, "offload", true);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!in_ranks(c) || is_pipelined(c)) return not_for("a case of ranks, or of one that is told how ranks work");
  CheckedRun there = run_and_check(with_rank_option(c, "offload", true), subject);
  if (there.outcome.status == Status::not_run) return there.outcome;
  const Trace here = run(with_rank_option(c, "offload", false), subject);
  require_equal_bits(there.outcome, here, there.trace, {"unscale", "norm", "clip", "decay", "optimizer", "cast"},
                     "a step on the host left other bits than a step on the device");
  return settled(std::move(there.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "offload_changes_nothing",
    .family = "ranks",
    .statement = "A step whose parameters and state live on the host leaves what a step on the device leaves.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.4,
}};

}  // namespace
}  // namespace tally::offload_changes_nothing_law
