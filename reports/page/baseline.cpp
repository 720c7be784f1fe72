// This run beside its baseline: what was blessed, what changed, and a figure of both.
#include <algorithm>
#include <cmath>

#include "reports/census/census.hpp"
#include "reports/gate/gate.hpp"
#include "reports/html/figure.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

using LawChanges = std::vector<LawChange>;

bool is_changed(const LawChange& law) { return law.equal < law.cases || law.gone > 0 || law.fresh > 0; }

void scatter(Markup& page, const LawChanges& laws) {
  StudyPlot plot{"Worst r now against the baseline's", "r in the baseline", "r now", true, true, {}};
  StudySeries same{"as blessed", {}, {}, {}, {}}, changed{"changed", {}, {}, {}, {}};
  double low = 1;
  for (const LawChange& law : laws) {
    if (law.cases == 0) continue;
    StudySeries& series = law.worst_before == law.worst_now ? same : changed;
    series.x.push_back(law.worst_before), series.y.push_back(law.worst_now);
    for (const double r : {law.worst_before, law.worst_now})
      if (r > 0 && std::isfinite(r)) low = std::min(low, r);
  }
  plot.series = {same, changed, {"as blessed: r now = r before", {low, 1}, {low, 1}, {}, {}}};
  study_figure(page, "p4", plot,
               {{ink::axis, 0, false, "", true, false},
                {ink::series[1], 3, true, "", true, false},
                {ink::axis, 0, false, "4 4", false, true}},
               "One mark a law and precision. Over the line a group has become worse, under it better.");
}

const char* word_of(const LawChange& law) {
  if (law.cases == 0) return law.fresh > 0 ? "new" : "gone";
  return ratio_is_worse(law.worst_now, law.worst_before)   ? "\u25B2 drift"
         : ratio_is_worse(law.worst_before, law.worst_now) ? "\u25BD better"
                                                           : "other bits";
}

void changes(Markup& page, const LawChanges& laws) {
  Table table(page, "Laws and precisions that differ from the baseline",
              {"Law", "Precision", "Change", ">Cases of both", ">Changed", ">New", ">Gone", ">r in the baseline",
               ">r now", "Worst r of each case"});
  for (const LawChange& law : laws) {
    if (!is_changed(law)) continue;
    auto row = table.row("other", "", law.precision);
    row.head(law.law);
    row.cell(law.precision);
    row.cell(word_of(law));
    row.cell(grouped(law.cases)), row.cell(grouped(law.cases - law.equal));
    row.cell(grouped(law.fresh)), row.cell(grouped(law.gone));
    row.cell(significant(law.worst_before));
    row.cell(significant(law.worst_now));
    row.cell(text_of(law.accuracy));
  }
}

void operations(Markup& page, const std::vector<OperationChange>& changes) {
  Table table(page, "Kernel operations that changed",
              {"Operation", "Precision", "Variant", "Bits", ">Cases of both", ">Changed", ">From equal inputs",
               "Error against its bound"});
  for (const OperationChange& change : changes) {
    if (change.changed() == 0) continue;
    auto row = table.row("other", "", change.precision);
    row.head(change.operation);
    row.cell(change.precision);
    row.cell(change.variant_now);
    row.cell(bits_text(change));
    row.cell(grouped(change.cases)), row.cell(grouped(change.changed())), row.cell(grouped(change.own));
    row.cell(text_of(change.accuracy));
  }
}

void blessings(Markup& page, const Baseline& baseline, const Machine& machine) {
  Table table(page, "Blessed because", {"Commit", "Reason", ">Cases"});
  for (const Blessing& b : baseline.blessings) {
    if (b.machine != machine) continue;
    const auto cases = std::count_if(baseline.cases.begin(), baseline.cases.end(),
                                     [&b](const BlessedCase& c) { return c.blessing == b.key; });
    auto row = table.row("other");
    row.head(b.commit.empty() ? "not recorded" : b.commit);
    row.cell(b.reason);
    row.cell(grouped(static_cast<std::uint64_t>(cases)));
  }
}

}  // namespace

void baseline_section(Markup& page, const Results& results, const ReportContext& context) {
  if (!context.baseline) return;
  const auto section = page.open("section", {{"aria-labelledby", "baseline"}});
  page.element("h2", {{"id", "baseline"}}, "Baseline");
  const Machine machine = machine_of(results);
  const GateReport report = gate(results, *context.baseline);
  const Comparison& found = report.comparison;
  page.element("p", {},
               "Compared on " + machine.executor + (machine.device.empty() ? "" : ", " + machine.device) + "; " +
                   machine.toolchain + ": " + counted(found.cases, "case") + " of both, " + grouped(found.equal) +
                   " the same.");
  page.element("pre", {{"tabindex", "0"}, {"role", "group"}, {"aria-label", "What the gate says"}},
               gate_text(report, {{context.file_of, false}, ""}));
  if (found.cases == 0) return;
  scatter(page, found.laws);
  if (std::any_of(found.operations.begin(), found.operations.end(), [](const auto& o) { return o.changed() > 0; }))
    operations(page, found.operations);
  if (std::any_of(found.laws.begin(), found.laws.end(), is_changed)) changes(page, found.laws);
  blessings(page, *context.baseline, machine);
}

}  // namespace tally
