#include <set>

#include "reports/compare/comparison.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t few = 3;
  if (names.empty() || names.size() > few) return "";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? " (" : ", ") + name;
  return text + ")";
}

}  // namespace

std::string decision_text(const Comparison& comparison) {
  std::set<std::string> changed, worse, better, open;
  for (const OperationChange& o : comparison.operations) {
    const std::string kernel = o.operation + "/" + o.variant_now;
    if (o.own > 0 || o.variant_before != o.variant_now) changed.insert(kernel);
    if (o.accuracy.verdict == AccuracyVerdict::worse) worse.insert(kernel);
    if (o.accuracy.verdict == AccuracyVerdict::better) better.insert(kernel);
    if (o.accuracy.verdict == AccuracyVerdict::undecided && o.own > 0) open.insert(kernel);
  }
  std::string text = changed.empty() ? "no kernel changed" : counted(changed.size(), "kernel") + " changed";
  text += listed(changed);
  if (!worse.empty()) {
    text += ", " + counted(worse.size(), "kernel") + " less accurate" + (worse == changed ? "" : listed(worse));
  } else if (!open.empty()) {
    text += ", accuracy undecided by these cases";
  } else if (!changed.empty()) {
    text += better.empty() ? ", as accurate" : ", more accurate";
  }
  if (comparison.broken > 0) return text + ", " + counted(comparison.broken, "case") + " newly broken: reject";
  text += ", nothing newly broken";
  return changed.empty() && worse.empty() ? text : text + ": bless or reject";
}

}  // namespace tally
