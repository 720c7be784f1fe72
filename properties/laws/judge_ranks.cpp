#include "properties/laws/judge_ranks.hpp"

#include "properties/compare/bound_terms.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/named_place.hpp"
#include "properties/compare/rank_checks.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/laws/judge_grouped.hpp"
#include "properties/laws/violation_stage.hpp"
#include "properties/laws/without_suspects.hpp"

namespace tally {
namespace {

using Found = std::vector<std::vector<GroupedChecks>>;  // by generation and rank

void explain_ranks(Outcome& outcome, const GenerationsOfTrace& generations, const Found& of_each) {
  const TensorCheck* failure = first_failure(outcome.checks);
  if (failure == nullptr || failure->lens != "local" || !asks_suspects()) return;
  const std::size_t which = generations.with(failure->tap), rank = rank_of_tap(failure->tap);
  const RanksOfTrace& ranks = generations.all[which];
  outcome.suspects = diagnose(ranks.parts[rank], ranks.traces[rank], of_each[which][rank].checks);
}

/// What the bounds are made of, of the checks that a record keeps: each by its own rank, on the bits that it read.
void split_worst(const GenerationsOfTrace& generations, std::vector<TensorCheck>& checks) {
  std::vector<std::size_t> chosen = worst_of(checks);
  if (const TensorCheck* failure = first_failure(checks))
    chosen.push_back(static_cast<std::size_t>(failure - checks.data()));
  for (const std::size_t i : chosen) {
    TensorCheck& check = checks[i];
    if (check.lens != "local") continue;
    const RanksOfTrace& ranks = generations.all[generations.with(check.tap)];
    const std::size_t rank = rank_of_tap(check.tap);
    std::vector<TensorCheck> own{check};
    own.front().tap = without_rank(check.tap);
    split_bounds(ranks.parts[rank], ranks.traces[rank], own);
    check.terms = own.front().terms;
  }
}

}  // namespace

Outcome judge_ranks(const Case& c, const Trace& trace, Grouping grouping) {
  const GenerationsOfTrace generations(c, trace);
  Found of_each = hard_lenses(generations, grouping);
  for (std::size_t i = 0; i < of_each.size(); ++i)
    for (std::size_t rank = 0; rank < of_each[i].size(); ++rank)
      for (TensorCheck& check : of_each[i][rank].checks)
        if (check.status == Status::fail)
          check.place = named_place(generations.all[i].parts[rank], tap_name_of(check.tap), check.worst_index);
  Outcome outcome;
  outcome.checks = checks_of_whole(generations, trace, of_each);
  split_worst(generations, outcome.checks);
  for (const std::string& violation : trace.violations)
    require(outcome, false, "memory", stage_of_violation(violation), violation);
  explain_ranks(outcome, generations, of_each);
  return dead_or(settled(std::move(outcome)), c, trace);
}

}  // namespace tally
