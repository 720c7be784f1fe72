// Two runs of the same cases, and what there is to decide.
#include "reports/compare/comparison.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "reports/census/census.hpp"
#include "reports/compare/entry.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

/// Law and precision; operation, variant before, variant now and precision.
using Place = std::vector<std::string>;

template <class Change>
struct Stratum {
  Change change;
  PairedDrifts drifts;
};

/// By operation: who changed from equal inputs in how many cases where numbers of that operation are not seen.
using ReadUnseen = std::map<std::string, std::map<OperationChange*, std::uint64_t>>;

struct Strata {
  std::map<Place, Stratum<LawChange>> laws;
  std::map<Place, Stratum<OperationChange>> operations;
  ReadUnseen read_unseen;
};

bool is_broken(const CaseEntry& entry) { return entry.status == Status::fail || entry.status == Status::error; }

double worse_of(double a, double b) { return ratio_is_worse(a, b) ? a : b; }

void add_operation(Strata& strata, const std::string& precision, const OperationRecord& before,
                   const OperationRecord& now) {
  auto& [change, drifts] = strata.operations[{now.operation, before.variant, now.variant, precision}];
  const bool equal = before.bits == now.bits;
  change.repeats = change.repeats && before.repeats && now.repeats;
  ++change.cases;
  change.equal += equal;
  const bool same_inputs = before.inputs == now.inputs;
  const std::string& unseen = now.unseen.empty() ? before.unseen : now.unseen;
  change.own += !equal && same_inputs;
  change.tested += same_inputs;
  if (!equal && same_inputs && !unseen.empty()) ++strata.read_unseen[unseen][&change];
  drifts.before.push_back(before.drift), drifts.now.push_back(now.drift);
}

/// The same operation by the same variant, or else by the only one there was: a case may run several.
const OperationRecord* counterpart(const std::vector<OperationRecord>& before, const OperationRecord& now) {
  const OperationRecord* other = nullptr;
  for (const OperationRecord& b : before) {
    if (b.operation != now.operation) continue;
    if (b.variant == now.variant) return &b;
    other = &b;
  }
  return other;
}

void add_operations(Strata& strata, const CaseEntry& before, const CaseEntry& now) {
  for (const OperationRecord& o : now.operations)
    if (const OperationRecord* same = counterpart(before.operations, o)) add_operation(strata, now.precision, *same, o);
}

void add_pair(Strata& strata, const CaseEntry& before, const CaseEntry& now) {
  auto& [change, drifts] = strata.laws[{now.law, now.precision}];
  ++change.cases;
  change.equal += same_content(before, now);
  change.broken += is_broken(now) && !is_broken(before);
  change.mended += is_broken(before) && !is_broken(now);
  if (!was_judged(before.status) || !was_judged(now.status)) return;
  change.worst_before = worse_of(change.worst_before, before.worst_ratio);
  change.worst_now = worse_of(change.worst_now, now.worst_ratio);
  drifts.before.push_back(before.worst_ratio), drifts.now.push_back(now.worst_ratio);
  add_operations(strata, before, now);
}

Strata strata_of(const std::vector<CaseEntry>& before, const std::vector<CaseEntry>& now) {
  Strata strata;
  const auto change_of = [&strata](const CaseEntry& entry) -> LawChange& {
    return strata.laws[{entry.law, entry.precision}].change;
  };
  for_each_pair(
      before, now, [&strata](const CaseEntry& a, const CaseEntry& b) { add_pair(strata, a, b); },
      [&](const CaseEntry& gone) { ++change_of(gone).gone; },
      [&](const CaseEntry& fresh) { ++change_of(fresh).fresh, change_of(fresh).broken += is_broken(fresh); });
  return strata;
}

/// Where an operation changed by itself, what reads numbers of it that no tap holds is not said to have changed too.
void leave_open_what_read_unseen(Strata& strata) {
  for (const auto& [producer, readers] : strata.read_unseen) {
    const bool changed = std::any_of(strata.operations.begin(), strata.operations.end(), [&](const auto& entry) {
      return entry.first[0] == producer && entry.second.change.own > 0;
    });
    if (!changed) continue;
    for (const auto& [reader, cases] : readers) reader->own -= cases, reader->tested -= cases;
  }
}

template <class Change>
std::vector<Change> settled(std::map<Place, Stratum<Change>>& strata) {
  std::vector<PairedDrifts> drifts;
  for (auto& [place, stratum] : strata) drifts.push_back(std::move(stratum.drifts));
  const auto accuracies = accuracies_of(drifts);
  std::vector<Change> changes;
  for (auto& [place, stratum] : strata) {
    stratum.change.accuracy = accuracies[changes.size()];
    changes.push_back(std::move(stratum.change));
  }
  return changes;
}

}  // namespace

Comparison compared(const std::vector<CaseEntry>& before, const std::vector<CaseEntry>& now) {
  Strata strata = strata_of(before, now);
  leave_open_what_read_unseen(strata);
  for (auto& [place, stratum] : strata.laws) stratum.change.law = place[0], stratum.change.precision = place[1];
  for (auto& [place, stratum] : strata.operations) {
    OperationChange& change = stratum.change;
    change.operation = place[0], change.variant_before = place[1], change.variant_now = place[2];
    change.precision = place[3];
  }
  Comparison comparison;
  comparison.laws = settled(strata.laws), comparison.operations = settled(strata.operations);
  for (const LawChange& law : comparison.laws) {
    comparison.cases += law.cases, comparison.equal += law.equal, comparison.broken += law.broken;
    comparison.gone += law.gone, comparison.fresh += law.fresh;
  }
  return comparison;
}

Comparison compared(const Results& before, const Results& now) {
  Comparison comparison = compared(entries_of(before), entries_of(now));
  comparison.bits_repeat = before.ran_on_device + now.ran_on_device == 0;
  return comparison;
}

bool is_worse(const Comparison& comparison) {
  return comparison.broken > 0 ||
         std::any_of(comparison.operations.begin(), comparison.operations.end(),
                     [](const OperationChange& o) { return o.accuracy.verdict == AccuracyVerdict::worse; });
}

bool is_touched(const LawChange& change) {
  const AccuracyVerdict verdict = change.accuracy.verdict;
  return change.broken + change.mended > 0 || verdict == AccuracyVerdict::worse || verdict == AccuracyVerdict::better;
}

std::string bits_text(const OperationChange& change) {
  if (change.changed() == 0) return "bits equal";
  if (change.own == 0) return "inputs changed";
  return change.accuracy.verdict == AccuracyVerdict::same ? "bits changed, accuracy the same" : "bits changed";
}

namespace {

constexpr std::size_t few = 3;

std::string listed(const std::set<std::string>& names) {
  if (names.empty() || names.size() > few) return "";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? " (" : ", ") + name;
  return text + ")";
}

/// Kernels by what became of their accuracy.
struct ChangedNames {
  std::set<std::string> changed, worse, better, open, grown;  // grown: on other inputs alone
};

ChangedNames changed_names_of(const Comparison& comparison) {
  const KernelChanges changes = kernel_changes_of(comparison);
  ChangedNames names;
  for (const KernelChange& kernel : changes.own) {
    names.changed.insert(kernel.name());
    for (const OperationChange* part : kernel.parts) {
      if (part->accuracy.verdict == AccuracyVerdict::worse) names.worse.insert(kernel.name());
      if (part->accuracy.verdict == AccuracyVerdict::better) names.better.insert(kernel.name());
      if (part->accuracy.verdict == AccuracyVerdict::undecided) names.open.insert(kernel.name());
    }
  }
  for (const KernelChange& kernel : changes.followed)
    for (const OperationChange* part : kernel.parts)
      if (part->accuracy.verdict == AccuracyVerdict::worse) names.grown.insert(kernel.name());
  return names;
}

std::string accuracy_of(const ChangedNames& names) {
  if (names.changed.empty()) return "";
  if (!names.worse.empty()) return ", less accurate" + (names.worse == names.changed ? "" : listed(names.worse));
  if (!names.open.empty()) return ", accuracy undecided by these cases";
  return names.better.empty() ? ", as accurate" : ", more accurate";
}

std::string broken_beside(const Besides& besides) {
  if (besides.broken == 0) return ", no bound broken";
  return ", " + counted(besides.broken, "case") + (besides.broken == 1 ? " breaks its law" : " break their laws") +
         (besides.broken_laws > 1 ? " (" + counted(besides.broken_laws, "law") + ")" : "");
}

}  // namespace

std::string decision_text(const Comparison& comparison, const Besides& besides) {
  const ChangedNames names = changed_names_of(comparison);
  std::string text = names.changed.empty() ? "no kernel's bits changed in " + counted(comparison.cases, "case")
                                           : counted(names.changed.size(), "kernel") + " changed";
  text += listed(names.changed) + accuracy_of(names);
  if (!names.grown.empty())
    text += ", errors of " + counted(names.grown.size(), "kernel") + " grew on other inputs" + listed(names.grown);
  text += broken_beside(besides);
  for (const std::string& refused : besides.refused) text += ", " + refused;
  for (const std::string& open : besides.open) text += ", " + open;
  if (besides.broken > 0 || !besides.refused.empty()) return text + ": reject";
  const bool nothing = names.changed.empty() && names.grown.empty() && besides.open.empty();
  return nothing ? text : text + ": bless or reject";
}

std::string decision_text(const Comparison& comparison) {
  Besides besides{comparison.broken};
  for (const LawChange& law : comparison.laws) besides.broken_laws += law.broken > 0;
  const std::uint64_t otherwise = comparison.cases - comparison.equal;
  if (kernel_changes_of(comparison).own.empty() && otherwise > 0)
    besides.open.push_back(counted(otherwise, "case") + " judged otherwise");
  return decision_text(comparison, besides);
}

}  // namespace tally
