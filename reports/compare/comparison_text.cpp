#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/compare/kernel_changes.hpp"
#include "reports/text/columns.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

std::string cases_text(const Comparison& c) {
  std::string text = c.equal == c.cases ? "bits equal in all " + counted(c.cases, "case") + "\n" : "";
  if (c.gone + c.fresh > 0)
    text += grouped(c.gone) + " cases only before, " + grouped(c.fresh) + " only now: not compared\n";
  return text;
}

std::string broken_text(const Comparison& c) {
  std::string text;
  for (const LawChange& law : c.laws)
    if (law.broken > 0)
      text += "  " + law.law + ", " + law.precision + ": " + counted(law.broken, "case") + ", worst r " +
              significant(law.worst_before) + " before, " + significant(law.worst_now) + " now\n";
  return text.empty() ? "" : "Laws that break now and did not before\n" + text;
}

std::string laws_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> laws{
      {"  Law", "Precision", ">Changed", ">Broken", ">Mended", ">r before", ">r now", "Worst r of each case"}};
  for (const LawChange& law : comparison.laws)
    if (law.equal < law.cases)
      laws.push_back({"  " + law.law, law.precision, grouped(law.cases - law.equal) + "/" + grouped(law.cases),
                      grouped(law.broken), grouped(law.mended), significant(law.worst_before),
                      significant(law.worst_now), text_of(law.accuracy)});
  return laws.size() > 1 ? columns(laws) : "";
}

}  // namespace

std::string law_changes_text(const Comparison& comparison, bool all) {
  std::uint64_t changed = 0, laws = 0;
  double before = 0, now = 0;
  for (const LawChange& law : comparison.laws) {
    changed += law.cases - law.equal, laws += law.equal < law.cases;
    if (ratio_is_worse(law.worst_before, before)) before = law.worst_before;
    if (ratio_is_worse(law.worst_now, now)) now = law.worst_now;
  }
  if (changed == 0) return "";
  return "results changed in " + grouped(changed) + " of " + counted(comparison.cases, "case") + ", of " +
         grouped(laws) + " of " + grouped(comparison.laws.size()) + " laws in a precision; worst r " +
         significant(before) + " before, " + significant(now) + " now\n" + (all ? laws_table(comparison) : "");
}

std::string comparison_text(const Comparison& comparison, const ChangesText& how) {
  return text_of(kernel_changes_of(comparison), how) + broken_text(comparison) + law_changes_text(comparison, how.all) +
         cases_text(comparison) + decision_text(comparison) + "\n";
}

}  // namespace tally
