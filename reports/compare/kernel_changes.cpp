#include "reports/compare/kernel_changes.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tally {
namespace {

/// Worse first, then what nobody can say, then better.
int badness(AccuracyVerdict verdict) {
  switch (verdict) {
    case AccuracyVerdict::worse:
      return 3;
    case AccuracyVerdict::undecided:
      return 2;
    case AccuracyVerdict::better:
      return 1;
    case AccuracyVerdict::same:
      return 0;
  }
  return 3;
}

bool is_worse(const OperationChange& a, const OperationChange& b) {
  const int first = badness(a.accuracy.verdict), second = badness(b.accuracy.verdict);
  return first != second ? first > second : a.accuracy.factor > b.accuracy.factor;
}

/// Operation and variant; what a fused pass did is the pass's own: its variant names it whole.
std::pair<std::string, std::string> kernel_of(const std::string& operation, const std::string& variant) {
  const auto slash = variant.find('/');
  if (slash == std::string::npos) return {operation, variant};
  return {variant.substr(0, slash), variant.substr(slash + 1)};
}

std::string name_of(const std::pair<std::string, std::string>& kernel) {
  return kernel.second.empty() ? kernel.first : kernel.first + "/" + kernel.second;
}

template <class Value>
std::uint64_t sum(const std::vector<const OperationChange*>& parts, Value value) {
  std::uint64_t total = 0;
  for (const OperationChange* part : parts) total += value(*part);
  return total;
}

/// Whether every product of a linear layer's forward changed by itself, whichever way it was made: what they share did,
/// the bias that is added to each or how all of them are made, and no one of them is to be named.
bool all_products_changed(const Comparison& comparison) {
  std::map<std::string, bool> changed;
  for (const OperationChange& change : comparison.operations) {
    if (change.operation != "linear.forward") continue;
    bool& found = changed[change.variant_now];
    found = found || change.own > 0;
  }
  return changed.size() > 1 && std::ranges::all_of(changed, [](const auto& variant) { return variant.second; });
}

/// The kernel now and before.
using Names = std::pair<std::string, std::string>;
using ByName = std::map<Names, KernelChange>;

Names names_of(const OperationChange& change, bool one_product) {
  if (one_product && change.operation == "linear.forward") return {change.operation, change.operation};
  return {name_of(kernel_of(change.operation, change.variant_now)),
          name_of(kernel_of(change.operation, change.variant_before))};
}

void add(ByName& kernels, const OperationChange& change, const Names& names) {
  KernelChange& found = kernels[names];
  std::tie(found.operation, found.variant) = kernel_of(change.operation, change.variant_now);
  if (names.first == found.operation) found.variant.clear();
  if (names.first != names.second) found.before = names.second;
  found.parts.push_back(&change);
}

std::vector<KernelChange> sorted(ByName&& kernels) {
  std::vector<KernelChange> list;
  for (auto& [name, kernel] : kernels) list.push_back(std::move(kernel));
  std::stable_sort(list.begin(), list.end(),
                   [](const KernelChange& a, const KernelChange& b) { return is_worse(a.worst(), b.worst()); });
  return list;
}

}  // namespace

std::uint64_t KernelChange::changed() const {
  return sum(parts, [](const OperationChange& part) { return part.changed(); });
}

std::uint64_t KernelChange::cases() const {
  return sum(parts, [](const OperationChange& part) { return part.cases; });
}

std::uint64_t KernelChange::own() const {
  return sum(parts, [](const OperationChange& part) { return part.own; });
}

std::uint64_t KernelChange::tested() const {
  return sum(parts, [](const OperationChange& part) { return part.tested; });
}

const OperationChange& KernelChange::worst() const {
  return **std::min_element(parts.begin(), parts.end(), [](const auto* a, const auto* b) { return is_worse(*a, *b); });
}

bool changed_by_itself(const OperationChange& change, bool bits_repeat) {
  if (change.variant_before != change.variant_now) return true;
  if (change.own == 0) return false;
  const AccuracyVerdict verdict = change.accuracy.verdict;
  return change.repeats || bits_repeat || verdict == AccuracyVerdict::worse || verdict == AccuracyVerdict::better;
}

KernelChanges kernel_changes_of(const Comparison& comparison) {
  const bool one_product = all_products_changed(comparison);
  ByName own, followed, varied;
  for (const OperationChange& change : comparison.operations)
    if (changed_by_itself(change, comparison.bits_repeat)) add(own, change, names_of(change, one_product));
  for (const OperationChange& change : comparison.operations) {
    if (change.changed() == 0 || changed_by_itself(change, comparison.bits_repeat)) continue;
    const Names names = names_of(change, one_product);
    add(own.contains(names) ? own : change.own > 0 ? varied : followed, change, names);
  }
  return {sorted(std::move(own)), sorted(std::move(followed)), sorted(std::move(varied))};
}

}  // namespace tally
