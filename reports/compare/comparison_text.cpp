#include <algorithm>

#include "reports/compare/comparison.hpp"
#include "reports/text/columns.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

std::string cases_text(const Comparison& c) {
  std::string text = c.equal == c.cases
                         ? "bits equal in all " + counted(c.cases, "case")
                         : "bits changed in " + grouped(c.cases - c.equal) + " of " + counted(c.cases, "case");
  if (c.gone + c.fresh > 0)
    text += "; " + grouped(c.gone) + " only before, " + grouped(c.fresh) + " only now: not compared";
  if (c.broken > 0) text += "; " + grouped(c.broken) + " break their law now and did not before";
  return text;
}

std::vector<std::string> row_of(const OperationChange& change) {
  const bool other = change.variant_before != change.variant_now;
  return {change.operation,
          change.precision,
          other ? change.variant_before + " -> " + change.variant_now : change.variant_now,
          bits_text(change),
          grouped(change.changed()) + "/" + grouped(change.cases),
          grouped(change.own),
          text_of(change.accuracy)};
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string out = cases_text(comparison) + "\n";
  std::vector<std::vector<std::string>> operations{
      {"  Operation", "Precision", "Variant", "Bits", ">Changed", ">By itself", "Error against its bound"}};
  std::uint64_t followed = 0;
  for (const OperationChange& change : comparison.operations) {
    followed += !is_touched(change) && change.changed() > 0;
    if (!is_touched(change)) continue;
    operations.push_back(row_of(change));
    operations.back().front().insert(0, "  ");
  }
  std::vector<std::vector<std::string>> laws{
      {"  Law", "Precision", ">Changed", ">Broken", ">Mended", ">r before", ">r now", "Worst r of each case"}};
  for (const LawChange& law : comparison.laws)
    if (is_touched(law))
      laws.push_back({"  " + law.law, law.precision, grouped(law.cases - law.equal) + "/" + grouped(law.cases),
                      grouped(law.broken), grouped(law.mended), significant(law.worst_before),
                      significant(law.worst_now), text_of(law.accuracy)});
  if (operations.size() > 1) out += "\nKernel operations that changed\n" + columns(operations);
  if (followed > 0) out += "  " + grouped(followed) + " more" + " computed as accurately on other inputs\n";
  if (laws.size() > 1) out += "\nLaws that changed\n" + columns(laws);
  out += "\n" + decision_text(comparison) + "\n";
  return out;
}

}  // namespace tally
