#include "reports/census/spread.hpp"

#include "reports/record/spread.hpp"
#include "reports/text/numbers.hpp"

namespace tally {

SpreadTotals spread_totals(const Results& results) {
  SpreadTotals totals;
  for (const CaseRecord& c : results.cases) {
    totals.comparisons += c.comparisons;
    if (c.comparisons == 0) continue;
    if (c.status != Status::fail && verdict_of(c.least_log10_chance) != SpreadVerdict::expected) ++totals.warnings;
    if (totals.least == nullptr || c.least_log10_chance < totals.least->least_log10_chance) totals.least = &c;
  }
  return totals;
}

std::string spread_sentence(const Results& results) {
  const SpreadTotals totals = spread_totals(results);
  if (totals.least == nullptr) return "";
  const CaseRecord& least = *totals.least;
  return counted(totals.comparisons, "comparison") + ", " + counted(totals.warnings, "warning") + "; least chance " +
         power_of_ten(least.least_log10_chance) +
         (least.least_likely.empty() ? ""
                                     : " (" + least.least_likely + "; " + least.law + ", " + least.precision + ")") +
         "; fails below " + power_of_ten(log10_share(family_alpha)) + ", warns below " +
         power_of_ten(log10_share(warning_alpha)) + ": \u03b1 = 1e-9 and 1e-3 a campaign, Bonferroni among 2^30";
}

}  // namespace tally
