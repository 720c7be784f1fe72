// P7: the worst r of each precision, run by run.
#include <cmath>
#include <limits>

#include "reports/census/census.hpp"
#include "reports/html/sections.hpp"
#include "reports/study/figure.hpp"

namespace tally {
namespace {

/// From each run a step to the next, which is where it changed.
StudySeries steps(const std::string& precision, const std::vector<const Results*>& runs) {
  StudySeries series{precision, {}, {}, {}, {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<double> ratios;
    for (const CaseRecord& c : runs[i]->cases)
      if (c.precision == precision && was_judged(c.status)) ratios.push_back(ratio_of(c));
    if (ratios.empty()) continue;
    const auto run = static_cast<double>(i + 1);
    const double worst = worst_of(ratios);
    if (!series.x.empty()) series.x.push_back(run), series.y.push_back(series.y.back());
    series.x.push_back(run), series.y.push_back(std::isnan(worst) ? std::numeric_limits<double>::infinity() : worst);
  }
  return series;
}

}  // namespace

void history_section(Markup& page, const Results& results, const ReportContext& context) {
  if (context.history.empty()) return;
  std::vector<const Results*> runs;
  for (const Results& run : context.history) runs.push_back(&run);
  runs.push_back(&results);
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
  study_figure(page, "p7", plot, looks, "Runs stand in the order in which they were given.");
}

}  // namespace tally
