// This run beside its baseline, and beside earlier runs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/census/census.hpp"
#include "reports/gate/gate.hpp"
#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/text.hpp"

namespace tally {

// This run beside its baseline: what was blessed, what changed, and a figure of both.
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

// The figure "Worst r, run by run": the worst r of each precision, run by run, and where a baseline was blessed.
namespace {

/// From each run a step to the next, which is where it changed.
StudySeries steps(const std::string& precision, const std::vector<HistoryEntry>& runs) {
  StudySeries series{precision, {}, {}, {}, {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const PrecisionHistory& p : runs[i].precisions) {
      if (p.precision != precision || p.cases == 0) continue;
      const auto run = static_cast<double>(i + 1);
      const double worst = std::isnan(p.worst_ratio) ? std::numeric_limits<double>::infinity() : p.worst_ratio;
      if (!series.x.empty()) series.x.push_back(run), series.y.push_back(series.y.back());
      series.x.push_back(run), series.y.push_back(worst);
    }
  }
  return series;
}

/// Why entries of the baseline were blessed for the commit of a run; empty where none were.
std::string reasons_at(const HistoryEntry& run, const ReportContext& context) {
  std::string reasons;
  if (run.commit.empty() || !context.baseline) return reasons;
  for (const Blessing& b : context.baseline->blessings)
    if (b.commit == run.commit && b.machine == run.machine) reasons += (reasons.empty() ? "" : "; ") + b.reason;
  return reasons;
}

/// A mark from top to bottom at the run of each blessed commit.
void add_blessings(StudyPlot& plot, std::vector<Look>& looks, const std::vector<HistoryEntry>& runs,
                   const ReportContext& context) {
  double low = 1, high = 1;
  for (const StudySeries& series : plot.series)
    for (const double r : series.y)
      if (r > 0 && std::isfinite(r)) low = std::min(low, r), high = std::max(high, r);
  StudySeries blessed{"baseline blessed", {}, {}, {}, {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (reasons_at(runs[i], context).empty()) continue;
    blessed.x.push_back(static_cast<double>(i + 1)), blessed.y.push_back(std::sqrt(low) * std::sqrt(high));
    blessed.low.push_back(low), blessed.high.push_back(high);
  }
  if (blessed.x.empty()) return;
  plot.series.push_back(std::move(blessed));
  looks.push_back({ink::good, 3, true, "3 3", true, false});
}

void runs_table(Markup& page, const std::vector<HistoryEntry>& runs, const ReportContext& context) {
  Table table(page, "Runs", {">Run", "Commit", "Verdict", ">Cases", ">Failed", "Machine", "Baseline blessed"});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::uint64_t cases = 0, failed = 0;
    for (const PrecisionHistory& p : runs[i].precisions) cases += p.cases, failed += p.failed;
    const Machine& machine = runs[i].machine;
    auto row = table.row("other");
    row.head(std::to_string(i + 1));
    row.cell(i + 1 == runs.size() ? "this run" : runs[i].commit.empty() ? "not recorded" : runs[i].commit);
    row.cell(word_of(runs[i].verdict));
    row.cell(grouped(cases)), row.cell(grouped(failed));
    row.cell(machine.device.empty() ? machine.executor : machine.device);
    row.cell(reasons_at(runs[i], context));
  }
}

}  // namespace

void history_section(Markup& page, const Results& results, const ReportContext& context) {
  if (context.history.empty()) return;
  std::vector<HistoryEntry> runs = context.history;
  runs.push_back(history_entry_of(results));
  const auto section = page.open("section", {{"aria-labelledby", "history"}});
  page.element("h2", {{"id", "history"}}, "History");
  StudyPlot plot{"Worst r, run by run", "run, this one last", "worst r", false, true, {}};
  std::vector<Look> looks;
  for (const std::string& precision : precisions_of(results)) {
    looks.push_back({ink::series[looks.size() % std::size(ink::series)], looks.size(), true, "", true, true});
    plot.series.push_back(steps(precision, runs));
  }
  plot.series.push_back({"limit r = 1", {1, static_cast<double>(runs.size())}, {1, 1}, {}, {}});
  looks.push_back({ink::limit, 0, false, "", false, true});
  add_blessings(plot, looks, runs, context);
  study_figure(page, "p7", plot, looks,
               "Runs stand in the order in which they were given. A baseline is marked at the run of the commit that "
               "it was blessed for.");
  runs_table(page, runs, context);
}

}  // namespace tally
