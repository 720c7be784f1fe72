// Which kernels changed by themselves, also as text.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "reports/compare/comparison.hpp"
#include "reports/text/text.hpp"

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

namespace {

using Row = std::vector<std::string>;

/// So many lines of kernels that a screen still holds what follows them.
constexpr std::size_t most_lines = 8, most_named = 2;

std::string bits_words(std::uint64_t changed, std::uint64_t cases, std::uint64_t own) {
  return "bits changed in " + grouped(changed) + " of " + counted(cases, "case") + ", " + grouped(own) +
         " from equal inputs";
}

std::string head_of(const KernelChange& kernel, const ChangesText& how) {
  std::string text = "  " + kernel.name();
  if (!kernel.before.empty()) text += " (was " + kernel.before + ")";
  const std::string file = how.file_of ? how.file_of(kernel.operation, kernel.variant) : "";
  return text + (file.empty() ? "" : "  " + file) + "\n";
}

Row row_of(const OperationChange& part, const KernelChange& kernel) {
  const std::string wrote = part.operation == kernel.operation ? "" : part.operation + " ";
  const std::string by = kernel.variant.empty() && !part.variant_now.empty() ? ", " + part.variant_now : "";
  return {"  " + wrote + part.precision + by, bits_words(part.changed(), part.cases, part.own),
          accuracy_words(part.accuracy)};
}

std::string precisions_of(const KernelChange& kernel) {
  std::string text;
  for (const OperationChange* part : kernel.parts)
    if (text.find(part->precision) == std::string::npos) text += (text.empty() ? "" : ", ") + part->precision;
  return text;
}

bool is_the_same(const OperationChange& part) { return part.accuracy.verdict == AccuracyVerdict::same; }

/// All precisions in one row, which tells the accuracy of the worst one.
Row folded(const KernelChange& kernel) {
  const OperationChange& worst = kernel.worst();
  return {"  " + precisions_of(kernel), bits_words(kernel.changed(), kernel.cases(), kernel.own()),
          accuracy_words(worst.accuracy) + (is_the_same(worst) ? "" : " (" + worst.precision + ", the worst)")};
}

std::size_t lines_of(const std::vector<KernelChange>& kernels) {
  std::size_t lines = 0;
  for (const KernelChange& kernel : kernels) lines += 1 + kernel.parts.size();
  return lines;
}

/// One kernel after another: its name, and a row a precision or one for all.
std::string kernels_text(const std::vector<KernelChange>& kernels, const ChangesText& how, bool fold) {
  std::string text;
  for (const KernelChange& kernel : kernels) {
    std::vector<Row> rows;
    if (fold) rows.push_back(folded(kernel));
    for (std::size_t i = 0; !fold && i < kernel.parts.size(); ++i) rows.push_back(row_of(*kernel.parts[i], kernel));
    text += head_of(kernel, how) + columns(rows, 120);
  }
  return text;
}

std::string own_text(const KernelChanges& changes, const ChangesText& how) {
  if (changes.own.empty()) return "";
  const std::string title = "Kernels that changed\n";
  if (how.all || lines_of(changes.own) <= most_lines) return title + kernels_text(changes.own, how, false);
  const std::size_t shown = std::min(changes.own.size(), most_lines / 2);
  const std::size_t more = changes.own.size() - shown;
  return title + kernels_text({changes.own.begin(), changes.own.begin() + std::ptrdiff_t(shown)}, how, true) +
         (more > 0 ? "  and " + counted(more, "more kernel") + ": --all\n" : "");
}

/// "; errors grew on those inputs in norm/two_stage, bf16 (1.2x [1.1, 1.3] worse)".
std::string grown_text(const std::vector<KernelChange>& followed) {
  std::string text;
  std::size_t grown = 0;
  for (const KernelChange& kernel : followed)
    for (const OperationChange* part : kernel.parts)
      if (part->accuracy.verdict == AccuracyVerdict::worse && ++grown <= most_named)
        text += (grown == 1 ? "; errors grew on those inputs in " : ", ") + kernel.name() + ", " + part->precision +
                " (" + text_of(part->accuracy) + ")";
  return grown > most_named ? text + " and " + grouped(grown - most_named) + " more" : text;
}

/// Kernels that no case ran on equal inputs, those that share a file with a changed one first: whether they changed too
/// cannot be seen.
std::vector<std::string> untested(const KernelChanges& changes, const ChangesText& how) {
  const auto file = [&how](const KernelChange& kernel) {
    return how.file_of ? how.file_of(kernel.operation, kernel.variant) : "";
  };
  std::set<std::string> files;
  for (const KernelChange& kernel : changes.own) files.insert(file(kernel));
  std::vector<std::string> near, others;
  for (const KernelChange& kernel : changes.followed) {
    if (kernel.tested() > 0) continue;
    (!file(kernel).empty() && files.contains(file(kernel)) ? near : others).push_back(kernel.name());
  }
  near.insert(near.end(), others.begin(), others.end());
  return near;
}

std::string untested_text(const KernelChanges& changes, const ChangesText& how) {
  const std::vector<std::string> names = untested(changes, how);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most_named) text += " and " + grouped(names.size() - most_named) + " more";
  return names.empty() ? "" : "perhaps changed too, as no case gave them equal inputs: " + text + "\n";
}

std::string followed_text(const KernelChanges& changes, const ChangesText& how) {
  if (changes.followed.empty()) return "";
  const std::string grown = grown_text(changes.followed);
  std::string text = counted(changes.followed.size(), changes.own.empty() ? "kernel" : "other kernel") +
                     " computed on other inputs" + (grown.empty() ? ", as accurately as before" : grown);
  if (changes.own.empty()) text += ", while none changed by itself: what feeds them did";
  text += how.all ? ":\n" + kernels_text(changes.followed, how, false) : " (--all)\n";
  return (changes.own.empty() ? "" : "and from that: ") + text + untested_text(changes, how);
}

std::string varied_text(const KernelChanges& changes, const ChangesText& how) {
  if (changes.varied.empty()) return "";
  std::size_t undecided = 0;
  for (const KernelChange& kernel : changes.varied)
    undecided += kernel.worst().accuracy.verdict == AccuracyVerdict::undecided;
  return "other bits of " + counted(changes.varied.size(), "kernel") + " that need not repeat them, " +
         (undecided == 0 ? "as accurate" : "accuracy undecided in " + grouped(undecided)) +
         (how.all ? ":\n" + kernels_text(changes.varied, how, false) : " (--all)\n");
}

}  // namespace

std::string accuracy_words(const Accuracy& a) {
  if (a.identical) return "accuracy the same: every error to the bit";
  if (a.beyond > 0) return "accuracy worse: error " + beyond_words(a);
  std::string text = "accuracy " + std::string(a.verdict == AccuracyVerdict::same ? "the same" : word_of(a.verdict)) +
                     ": error " + significant(a.factor) + "x [" + significant(a.low) + ", " + significant(a.high) + "]";
  if (a.appeared + a.vanished > 0)
    text += ", appeared in " + grouped(a.appeared) + ", vanished in " + grouped(a.vanished);
  return text;
}

std::string text_of(const KernelChanges& changes, const ChangesText& how) {
  return own_text(changes, how) + followed_text(changes, how) + varied_text(changes, how);
}

}  // namespace tally
