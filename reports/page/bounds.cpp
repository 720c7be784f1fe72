// Errors against their bounds, as sizes and as ratios.
#include <algorithm>
#include <cmath>

#include "reports/census/census.hpp"
#include "reports/html/document.hpp"
#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/text.hpp"

namespace tally {

// The figure "Error against its bound": the worst element of every case, of a law or of all. It shows sizes; ratios are
// in "How near to the limit".
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
      "Dots over the line break their bound." +
          (beyond == 0 ? "" : " Not shown: " + counted(beyond, "case") + " with the least and largest bounds."));
}

// Cases sorted by the share of a bound that they use: how near to the limit everything is, and which precision fails.
namespace {

struct Ratios {
  std::string precision;
  std::vector<double> local, end_to_end;  // sorted, best first
};

void sort(std::vector<double>& values) {
  std::sort(values.begin(), values.end(), [](double a, double b) { return ratio_is_worse(b, a); });
}

/// The ratios of every law, or of one.
std::vector<Ratios> ratios_of(const Results& results, const std::string& law, const Ranking& ranking) {
  std::vector<Ratios> out;
  for (const std::string& precision : precisions_of(results)) {
    Ratios ratios{precision, {}, {}};
    for (const CaseRecord& c : results.cases) {
      if ((!law.empty() && c.law != law) || c.precision != precision || !was_judged(c.status)) continue;
      ratios.local.push_back(ranking.used(c));
      if (c.drift_bound > 0) ratios.end_to_end.push_back(c.rounding_drift / c.drift_bound);
    }
    if (ratios.local.empty()) continue;
    sort(ratios.local), sort(ratios.end_to_end);
    out.push_back(std::move(ratios));
  }
  return out;
}

std::size_t over_limit(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](double r) { return !(r <= 1); }));
}

std::vector<Point> points_of(const Plot& plot, const std::vector<double>& sorted) {
  constexpr std::size_t most = 300;
  std::vector<Point> out;
  const double last = static_cast<double>(std::max<std::size_t>(sorted.size(), 2) - 1);
  for (const std::size_t i : thinned(sorted.size(), most))
    out.push_back({plot.x(static_cast<double>(i) / last), plot.y(sorted[i])});
  return out;
}

std::string finding(const Ratios& r) {
  std::string text = counted(r.local.size(), "case") + ", median " + significant(median_of(r.local)) + ", worst " +
                     significant(r.local.back()) + ", " + std::to_string(over_limit(r.local)) + " over the limit";
  if (!r.end_to_end.empty()) text += "; gradient: worst " + significant(r.end_to_end.back());
  return text;
}

void panel(Markup& page, const std::string& id, const Ratios& r, const Decades& decades) {
  const auto box = page.open("div", {{"data-p", can_be_chosen(r.precision) ? r.precision : ""}});
  {
    Svg svg(page, anchor(id, r.precision), "Sorted share of the bound used, " + r.precision, finding(r), Plot::width,
            Plot::height);
    Plot plot(svg, decades, r.precision + ": share of the bound used");
    plot.limit_line();
    plot.tick(0, "0 %"), plot.tick(0.5, "50 %"), plot.tick(0.94, "100 %");
    plot.along("rank of the case");
    svg.dots(points_of(plot, r.end_to_end), ink::series[1], 3, false);
    const auto local = points_of(plot, r.local);
    svg.dots(local, ink::series[0], 4);
    if (!(r.local.back() <= 1)) svg.ring(local.back(), 6, ink::limit);
  }
  page.element("p", {{"class", "muted"}}, finding(r));
}

void data(Markup& page, const std::vector<Ratios>& all) {
  const auto details = page.open("details");
  page.element("summary", {}, "Data of this figure");
  Table table(page, "Share of the bound that is used",
              {"Precision", "Of", ">Cases", ">Median", ">95 %", ">Worst", ">Over the limit"});
  for (const Ratios& r : all) {
    for (const auto* values : {&r.local, &r.end_to_end}) {
      if (values->empty()) continue;
      auto row = table.row("", "", r.precision);
      row.head(r.precision);
      row.cell(values == &r.local ? "kernels, beyond the last rounding" : "gradient, end to end");
      row.cell(grouped(values->size()));
      row.cell(significant(median_of(*values)));
      row.cell(significant((*values)[(values->size() - 1) * 95 / 100]));
      row.cell(significant(values->back()));
      row.cell(grouped(over_limit(*values)));
    }
  }
}

Decades decades_of(const std::vector<Ratios>& all) {
  Decades decades;
  decades.include(1), decades.include(10);
  for (const Ratios& r : all)
    for (const auto* values : {&r.local, &r.end_to_end})
      for (const double value : *values) decades.include(value);
  decades.limit(-6, 6);
  return decades;
}

}  // namespace

void ratio_figure(Markup& page, const Results& results, const Ranking& ranking, const std::string& law) {
  const auto all = ratios_of(results, law, ranking);
  if (all.empty()) return;
  const Decades decades = decades_of(all);
  const auto figure = page.open("figure");
  {
    const auto caption = page.open("figcaption");
    page.element("h3", {}, law.empty() ? "How near to the limit" : "How near to the limit: " + law);
    page.text(law.empty() ? "Cases of a precision in order. Round dots: what the kernel that is nearest to a limit for "
                            "its kind uses of its bound beyond the last rounding, (error - u) / (bound - u), u half an "
                            "ulp as stored. Square dots: the error of the first window's gradient, end to end, as a "
                            "share of its bound, both as norms. Dots in the tinted zone break their bound."
                          : "Round dots: kernels, beyond the last rounding. Square dots: the gradient end to end.");
  }
  {
    const auto panels = page.open("div", {{"class", "panels"}});
    for (const Ratios& r : all) panel(page, law.empty() ? "p1-" : anchor("p1-", law) + "-", r, decades);
  }
  data(page, all);
}

}  // namespace tally
