// The figure "Error against its bound": the worst element of every case, of a law or of all. It shows sizes; ratios are
// in "How near to the limit".
#include <algorithm>
#include <cmath>

#include "reports/census/census.hpp"
#include "reports/html/figure.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

bool is_shown(const CaseRecord& c, const std::string& law) {
  return (law.empty() || c.law == law) && was_judged(c.status) && !c.worst.empty() && c.worst.front().bound > 0 &&
         std::isfinite(c.worst.front().bound);
}

struct Range {
  double low = 0, high = INFINITY;
  bool holds(double bound) const { return bound >= low && bound <= high; }
};

/// Where all but one in fifty of the bounds lie; of a single law, all of them.
Range range_of(const Results& results, const std::string& law) {
  std::vector<double> bounds;
  for (const CaseRecord& c : results.cases)
    if (is_shown(c, law)) bounds.push_back(c.worst.front().bound);
  if (!law.empty() || bounds.empty()) return {};
  std::sort(bounds.begin(), bounds.end());
  const std::size_t apart = bounds.size() / 100;
  return {bounds[apart], bounds[bounds.size() - 1 - apart]};
}

/// A line y = factor x over the bounds shown.
StudySeries parallel(const char* name, double factor, double low, double high) {
  return {name, {low, high}, {factor * low, factor * high}, {}, {}};
}

}  // namespace

void bound_figure(Markup& page, const Results& results, const std::string& law) {
  StudyPlot plot{"Error against bound: " + (law.empty() ? "all laws" : law),
                 "bound of the worst element",
                 "its error",
                 true,
                 true,
                 {}};
  std::vector<Look> looks;
  double low = INFINITY, high = 0;
  const Range range = range_of(results, law);
  std::uint64_t beyond = 0;
  const auto cases = by_severity(results);  // an order that does not depend on the record's
  for (const std::string& precision : precisions_of(results)) {
    StudySeries series{precision, {}, {}, {}, {}};
    for (const CaseRecord* c : cases) {
      if (c->precision != precision || !is_shown(*c, law)) continue;
      if (!range.holds(c->worst.front().bound)) {
        ++beyond;
        continue;
      }
      series.x.push_back(c->worst.front().bound), series.y.push_back(c->worst.front().error);
      low = std::min(low, series.x.back()), high = std::max(high, series.x.back());
    }
    if (series.x.empty()) continue;
    looks.push_back({ink::series[looks.size() % std::size(ink::series)], looks.size(), false, "", true, false});
    plot.series.push_back(std::move(series));
  }
  if (plot.series.empty()) return;
  plot.series.push_back(parallel("limit r = 1", 1, low, high));
  looks.push_back({ink::limit, 0, false, "", false, true});
  for (const auto& [name, factor] : {std::pair{"r = 0.1", 0.1}, std::pair{"r = 0.01", 0.01}}) {
    plot.series.push_back(parallel(name, factor, low, high));
    looks.push_back({ink::axis, 0, false, "4 4", false, true});
  }
  study_figure(
      page, anchor("p3-", law.empty() ? "all" : law), plot, looks,
      "Over the line the bound is broken." +
          (beyond == 0 ? "" : " Not shown: " + counted(beyond, "case") + " with the least and largest bounds."));
}

}  // namespace tally
