#include <set>

#include "reports/compare/comparison.hpp"
#include "reports/compare/kernel_changes.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
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
