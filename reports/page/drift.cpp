// How far the subject is from the full batch, split into what the recipe changes and what rounding adds.
#include <cmath>

#include "reports/census/census.hpp"
#include "reports/html/formula.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/page/studies.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

struct Split {
  std::vector<double> gap, drift, bound;
  std::uint64_t equivalent = 0;
};

Split split_of(const Results& results, const std::string& precision) {
  Split split;
  for (const CaseRecord& c : results.cases) {
    const bool measured = c.rounding_drift != 0 || c.drift_bound != 0;
    if (c.precision != precision || !was_judged(c.status) || !measured) continue;
    split.equivalent += c.semantic_gap == 0;
    if (c.semantic_gap != 0) split.gap.push_back(c.semantic_gap);
    split.drift.push_back(c.rounding_drift);
    split.bound.push_back(c.drift_bound);
  }
  return split;
}

void numbers(Table::Row& row, const std::vector<double>& values) {
  row.cell(values.empty() ? "\u2013" : significant(median_of(values)));
  row.cell(values.empty() ? "\u2013" : significant(worst_of(values)));
}

void split_table(Markup& page, const Results& results) {
  Table table(page, "First window's gradient, as a share of its norm; a semantic gap counts where it is not exactly 0",
              {"Precision", ">Cases", ">Gap exactly 0", ">Gap, median", ">Gap, worst", ">Rounding drift, median",
               ">Rounding drift, worst", ">Its bound, median", ">Its bound, worst"});
  for (const std::string& precision : precisions_of(results)) {
    const Split split = split_of(results, precision);
    if (split.drift.empty()) continue;
    auto row = table.row("", "", precision);
    row.head(precision);
    row.cell(grouped(split.drift.size()));
    row.cell(grouped(split.equivalent));
    numbers(row, split.gap);
    numbers(row, split.drift);
    numbers(row, split.bound);
  }
}

bool any_drift(const Results& results) {
  for (const CaseRecord& c : results.cases)
    if (was_judged(c.status) && (c.rounding_drift != 0 || c.drift_bound != 0)) return true;
  return false;
}

}  // namespace

bool has_drift(const Results& results) { return any_drift(results) || has_study(results, "sweep"); }

void drift_section(Markup& page, const Results& results) {
  if (!has_drift(results)) return;
  const auto section = page.open("section", {{"aria-labelledby", "drift"}});
  page.element("h2", {{"id", "drift"}}, "Drift");
  page.element("p", {},
               "Drift is always split. The semantic gap is what the recipe itself changes: exact accumulated gradient "
               "less exact full-batch gradient, no rounding in it, 0 for an equivalent recipe. The rounding drift is "
               "what the subject's arithmetic adds: subject less exact accumulated gradient.");
  drift_formula(page);
  if (any_drift(results)) {
    split_table(page, results);
    drift_figure(page, results);
  }
  if (!has_study(results, "sweep"))
    page.element(
        "p", {{"class", "muted"}},
        "Exponents are fitted by studies, and these results carry none. ./tally sweep micro_batches makes one; "
        "./tally report RESULTS --study FILE shows it here.");
  for (std::size_t i = 0; i < results.studies.size(); ++i)
    if (results.studies[i].family == "sweep") study_part(page, results.studies[i], "sweep-" + std::to_string(i));
}

}  // namespace tally
