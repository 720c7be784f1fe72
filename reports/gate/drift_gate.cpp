#include <map>

#include "reports/census/census.hpp"
#include "reports/compare/pairs.hpp"
#include "reports/gate/rules.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

using Kind = GateFinding::Kind;

/// Cases that must have the same bits and do not, by law and precision: on the host all of them. Results of a device
/// that name no kernels are of older files: nothing is known of them.
std::map<std::string, std::uint64_t> changed_cases(const Sides& sides, bool on_device) {
  std::map<std::string, std::uint64_t> changed;
  const auto repeats = [on_device](const CaseEntry& entry) {
    return !on_device || (entry.repeats() && !entry.operations.empty());
  };
  for_each_pair(
      sides.before, sides.now,
      [&](const CaseEntry& before, const CaseEntry& now) {
        const bool counts = now.status == Status::pass || now.status == Status::vacuous;
        if (counts && !same_content(before, now) && repeats(before) && repeats(now))
          ++changed[place_of(now.law, now.precision)];
      },
      [](const CaseEntry&) {}, [](const CaseEntry&) {});
  return changed;
}

std::string ratios_text(const LawChange& law) {
  if (!ratio_is_worse(law.worst_now, law.worst_before) && !ratio_is_worse(law.worst_before, law.worst_now))
    return "worst r is the same, " + shortest(law.worst_now);
  return "worst r " + shortest(law.worst_before) + " blessed, " + shortest(law.worst_now) + " now" +
         (ratio_is_worse(law.worst_before, law.worst_now) ? " (better)" : "");
}

std::string name_of(const OperationChange& change) {
  return change.operation + (change.variant_now.empty() ? "" : "/" + change.variant_now) + ", " + change.precision;
}

std::string changed_text(const OperationChange& change) {
  std::string text = "bits of " + grouped(change.changed()) + " of " + counted(change.cases, "case") + " changed, " +
                     grouped(change.own) + " from equal inputs; error " + text_of(change.accuracy);
  if (change.variant_before != change.variant_now) text += "; was " + change.variant_before;
  return text;
}

Kind kind_of(const OperationChange& change, bool bits_repeat) {
  const bool repeats = change.repeats || bits_repeat;
  if (repeats && change.own > 0) return Kind::failed;
  if (repeats) return Kind::told;  // its inputs changed
  switch (change.accuracy.verdict) {
    case AccuracyVerdict::worse:
      return Kind::failed;
    case AccuracyVerdict::undecided:
      return Kind::undecided;
    default:
      return Kind::told;
  }
}

}  // namespace

void drift_gate(const Sides& sides, const Comparison& comparison, const Results& results, Findings& out) {
  for (const OperationChange& change : comparison.operations) {
    const bool slipped = change.accuracy.verdict == AccuracyVerdict::worse;
    if (change.changed() == 0 && !slipped && change.variant_before == change.variant_now) continue;
    out.push_back({slipped ? Kind::failed : kind_of(change, comparison.bits_repeat), "drift", name_of(change),
                   changed_text(change)});
  }
  const auto changed = changed_cases(sides, results.ran_on_device > 0);
  for (const LawChange& law : comparison.laws) {
    const std::string place = place_of(law.law, law.precision);
    if (const auto found = changed.find(place); found != changed.end()) {
      out.push_back({Kind::failed, "drift", place,
                     grouped(found->second) + " of " + counted(law.cases, "case") + " changed; " + ratios_text(law)});
    } else if (law.equal < law.cases) {
      out.push_back({Kind::told, "drift", place, ratios_text(law) + "; these kernels need not repeat"});
    }
  }
}

}  // namespace tally
