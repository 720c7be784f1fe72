#include "properties/laws/judge.hpp"

#include "oracle/case/ranks.hpp"
#include "properties/compare/bound_terms.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/named_place.hpp"
#include "properties/compare/steps_shown.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/telling_factor.hpp"
#include "properties/laws/judge_grouped.hpp"
#include "properties/laws/judge_ranks.hpp"
#include "properties/laws/violation_stage.hpp"
#include "properties/laws/without_suspects.hpp"

namespace tally {
namespace {

/// Suspects, and what the worst element's ratio tells, of a local failure.
void explain(Outcome& outcome, const Case& c, const Trace& trace) {
  const TensorCheck* failure = first_failure(outcome.checks);
  if (failure == nullptr || failure->lens != "local") return;
  if (asks_suspects()) outcome.suspects = diagnose(c, trace, outcome.checks);
  const Tensor* got = trace.find(failure->tap);
  if (got == nullptr || failure->expected == 0) return;
  const TapName at = tap_name_of(failure->tap);
  outcome.ratio = telling_factor(c, at.window, at.micro_batch, got->dtype, failure->got / failure->expected);
}

}  // namespace

Outcome dead_or(Outcome outcome, const Case& c, const Trace& trace) {
  if (outcome.status != Status::pass && outcome.status != Status::vacuous) return outcome;
  if (const std::string dead = dead_steps(c, trace, outcome.checks); !dead.empty()) {
    outcome.status = Status::vacuous;
    outcome.message = dead;
  }
  return outcome;
}

Outcome judge(const Case& c, const Trace& trace) { return judge_grouped(c, trace, Grouping::declared); }

Outcome judge_grouped(const Case& c, const Trace& trace, Grouping grouping) {
  if (in_ranks(c) && c.whole == nullptr) return judge_ranks(c, trace, grouping);
  Outcome outcome;
  outcome.checks = hard_lenses(c, trace, grouping).checks;
  split_bounds(c, trace, outcome.checks);
  for (const std::string& violation : trace.violations)
    require(outcome, false, "memory", stage_of_violation(violation), violation);
  name_places(c, outcome.checks);
  explain(outcome, c, trace);
  outcome = settled(std::move(outcome));
  return dead_or(std::move(outcome), c, trace);
}

}  // namespace tally
