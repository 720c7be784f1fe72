#include "properties/diagnosis/judged_capture.hpp"

#include <algorithm>
#include <utility>

#include "oracle/case/ranks.hpp"
#include "properties/compare/bound_terms.hpp"
#include "properties/compare/groups.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/named_place.hpp"
#include "properties/compare/piecewise.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "properties/compare/steps_shown.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/restated_causes.hpp"
#include "properties/diagnosis/settings.hpp"

namespace tally {
namespace {

/// Suspects of the rank that fails first, on its own part of the case.
std::vector<Suspicion> suspects_of_ranks(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks) {
  const std::size_t rank = rank_of_tap(first_failure(checks)->tap);
  const GenerationsOfTrace generations(c, trace);
  const std::size_t which = generations.with(first_failure(checks)->tap);
  const RanksOfTrace& ranks = generations.all[which];
  std::vector<TensorCheck> own;
  for (TensorCheck check : checks) {
    if (rank_of_tap(check.tap) != rank || generations.with(check.tap) != which) continue;
    check.tap = without_rank(check.tap);
    own.push_back(std::move(check));
  }
  return diagnose(ranks.parts[rank], ranks.traces[rank], own);
}

/// Causes: the restatements that pass, then the suspects of the first failure that say something else.
void find_causes(const Case& c, const Trace& trace, JudgedCapture& judged) {
  if (first_failure(judged.checks) == nullptr) return;
  if (in_ranks(c)) {
    judged.suspects = suspects_of_ranks(c, trace, judged.checks);
    return;
  }
  if (small_enough_to_restate(c, trace)) {
    judged.suspects = restated_causes(c, trace, judged.checks);
  } else {
    judged.notes.push_back(
        "too large to be judged again under other recipes: no cause was looked for beyond the first "
        "stage that fails");
  }
  for (Suspicion& found : diagnose(c, trace, judged.checks)) {
    const bool named = std::any_of(judged.suspects.begin(), judged.suspects.end(),
                                   [&](const Suspicion& known) { return known.name == found.name; });
    if (!named) judged.suspects.push_back(std::move(found));
  }
  if (judged.suspects.empty() && !affordable(trace))
    judged.notes.push_back(
        "too large for other options of the stage to be tried as causes: a capture of fewer rows or windows may name "
        "one");
}

/// Two causes may explain the same bits: a recorded gradient holds a penalty of the loss, as if nothing decayed.
void put_first(const std::vector<std::string>& seen, std::vector<Suspicion>& suspects) {
  std::stable_partition(suspects.begin(), suspects.end(), [&](const Suspicion& suspect) {
    return std::find(seen.begin(), seen.end(), suspect.name) != seen.end();
  });
}

}  // namespace

JudgedCapture judged_capture(const Case& c, const Trace& trace, const CaptureOptions& options) {
  std::size_t bytes = 0;
  const auto told = [&](const std::string& tap, std::size_t more) {
    if (options.progress) options.progress(bytes += more, tap);
  };
  const Grouping grouping = trace.groups.empty() ? Grouping::inferred : Grouping::declared;
  const WholeModelScope whole(options.whole);
  const bool in_pieces = options.all_lenses && is_judged_in_pieces(c);
  const bool through_groups = options.all_lenses || !trace.groups.empty();  // what is fused is judged from the case on
  auto [checks, groups] = in_pieces        ? piecewise_lenses(c, trace, told)
                          : through_groups ? hard_lenses(c, trace, grouping, told)
                                           : GroupedChecks{local_lens(c, trace, told, true), {}};
  const std::string dead = dead_steps(c, trace, checks);
  if (!options.all_lenses) std::erase_if(checks, [](const TensorCheck& check) { return check.lens == "end_to_end"; });
  if (!in_pieces && !in_ranks(c)) split_bounds(c, trace, checks);
  JudgedCapture judged{std::move(checks), std::move(groups), {}, {}, dead};
  if (const std::string left = steps_not_taken(c, trace); !left.empty())
    judged.notes.push_back("not judged: " + left + ": every window overflowed and was skipped");
  name_places(c, judged.checks);
  if (options.all_lenses) find_causes(c, trace, judged);
  put_first(options.seen, judged.suspects);
  return judged;
}

}  // namespace tally
