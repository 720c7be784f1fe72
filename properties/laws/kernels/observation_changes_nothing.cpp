// Law: a run without taps ends in the same bits as one with them: reading a stage must not synchronise a race away.
#include <algorithm>

#include "properties/generators/choices.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::observation_changes_nothing_law {
namespace {

/// In one plan of four ranks whose number changes, with running values of one layer or two; in another one few layers.
void shape(Plan& plan) {
  if (plan.seed % 4 == 0) {
    with_batch_norm(plan, "micro_batch");
    if (plan.seed % 8 == 0)
      plan.hidden.push_back(layer("batch_norm", "norm9", {{"statistics", std::string("micro_batch")}}));
    at_least_windows(plan, 2);
    dealt_to_ranks(plan);
    change_ranks(plan);
  }
  if (plan.seed % 4 == 2) plan.hidden = {layer("relu")};
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun watched = run_and_check(c, subject);
  if (watched.outcome.status == Status::not_run) return watched.outcome;
  const bool stepped = std::ranges::any_of(watched.trace.taps(), [](const Tap& tap) {
    return tap.name.stage == "optimizer" || tap.name.stage == "running_stats";
  });
  if (!stepped) return vacuous(settled(std::move(watched.outcome)), "no window took its step");
  RunOptions unwatched = subject;
  unwatched.taps = false;
  require_equal_bits(watched.outcome, run(c, unwatched), watched.trace, {"optimizer", "running_stats"},
                     "the run without taps ended elsewhere");
  return settled(std::move(watched.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  RunOptions unwatched = subject;
  unwatched.taps = false;
  return bits_differ(run(with_other_input(c), unwatched), run(c, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "observation_changes_nothing",
    .family = "kernels",
    .statement = "A run without taps ends in the same bits as one with them.",
    .shape = shape,
    .holds = holds,
    .control = "another input without taps ends elsewhere",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::observation_changes_nothing_law
