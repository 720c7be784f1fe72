// The figure "Worst r, run by run": the worst r of each precision, run by run, and where a baseline was blessed.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/census/census.hpp"
#include "reports/html/figure.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
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
