// Rounding drift against the number of micro-batches, by precision, with the derived bound beside it.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/census/census.hpp"
#include "reports/html/plot.hpp"
#include "reports/html/sections.hpp"
#include "reports/html/table.hpp"
#include "reports/html/view.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

struct AtK {
  std::vector<double> drift, bound, decision;
};
using ByK = std::map<int, AtK>;

/// Laws of the family "scale" vary K and nothing else; where they ran, the figure of all laws is theirs alone.
std::set<std::string> scale_laws(const Results& results) {
  std::set<std::string> names;
  for (const LawRecord& law : results.laws) {
    if (law.family == "scale" && law.cases > 0) names.insert(law.name);
  }
  return names;
}

ByK drifts_of(const Results& results, const std::string& precision, const std::string& law) {
  const std::set<std::string> chosen = law.empty() ? scale_laws(results) : std::set{law};
  ByK out;
  for (const CaseRecord& c : results.cases) {
    const bool measured = c.rounding_drift != 0 || c.drift_bound != 0;
    if (!chosen.empty() && !chosen.contains(c.law)) continue;
    if (c.precision != precision || !measured || c.micro_batches < 1 || !was_judged(c.status)) continue;
    out[c.micro_batches].drift.push_back(c.rounding_drift);
    out[c.micro_batches].bound.push_back(c.drift_bound);
    out[c.micro_batches].decision.push_back(c.decision_drift);
  }
  return out;
}

double share_of(const ByK& ks, int k) {
  const double first = std::log2(ks.begin()->first), last = std::log2(ks.rbegin()->first);
  return last > first ? 0.04 + 0.92 * (std::log2(k) - first) / (last - first) : 0.5;
}

void ticks(Plot& plot, const ByK& ks) {
  double last = -1;
  for (const auto& [k, at] : ks) {
    const double share = share_of(ks, k);
    if (!(share - last >= 0.08)) continue;  // labels would touch
    plot.tick(share, std::to_string(k));
    last = share;
  }
  plot.along("K, micro-batches in a window");
}

/// What grows like √K and like K from the first median on.
void guides(Svg& svg, const Plot& plot, const ByK& ks) {
  const auto& [first, at] = *ks.begin();
  const double start = median_of(at.drift);
  if (!(start > 0) || ks.size() < 2) return;
  const char* names[] = {"\u221AK", "K"};
  for (const int i : {0, 1}) {
    std::vector<Point> points;
    for (const auto& [k, here] : ks) {
      const double growth = static_cast<double>(k) / first;
      points.push_back({plot.x(share_of(ks, k)), plot.y(start * (i == 0 ? std::sqrt(growth) : growth))});
    }
    svg.polyline(points, ink::axis, 1, "4 4");
    svg.text({points.back().x + 2, points.back().y - 3}, "end", names[i]);
  }
}

void curves(Svg& svg, const Plot& plot, const ByK& ks) {
  std::vector<Point> median, worst, bound;
  for (const auto& [k, at] : ks) {
    const double x = plot.x(share_of(ks, k));
    median.push_back({x, plot.y(median_of(at.drift))});
    worst.push_back({x, plot.y(worst_of(at.drift))});
    bound.push_back({x, plot.y(median_of(at.bound))});
  }
  svg.polyline(bound, ink::limit, 1.5);
  svg.dots(bound, ink::limit, 3, false);
  svg.polyline(median, ink::series[0], 1.5);
  svg.dots(median, ink::series[0], 5);
  svg.dots(worst, ink::series[1], 4, false);
}

std::string finding(const ByK& ks) {
  const auto& [k, at] = *ks.rbegin();
  return "K from " + std::to_string(ks.begin()->first) + " to " + std::to_string(k) + "; at K = " + std::to_string(k) +
         " the median drift is " + significant(median_of(at.drift)) + " and the median bound " +
         significant(median_of(at.bound));
}

void panel(Markup& page, const std::string& id, const std::string& precision, const ByK& ks) {
  Decades decades;
  for (const auto& [k, at] : ks)
    for (const double shown : {median_of(at.drift), worst_of(at.drift), median_of(at.bound)}) decades.include(shown);
  decades.limit(-18, 6);
  const auto box = page.open("div", {{"data-p", can_be_chosen(precision) ? precision : ""}});
  {
    Svg svg(page, id, "Drift against K, " + precision, finding(ks), Plot::width, Plot::height);
    Plot plot(svg, decades, precision + ": relative drift of the gradient");
    ticks(plot, ks);
    guides(svg, plot, ks);
    curves(svg, plot, ks);
  }
  page.element("p", {{"class", "muted"}}, finding(ks));
}

void data(Markup& page, const std::map<std::string, ByK>& all, const std::vector<std::string>& order) {
  const auto details = page.open("details");
  page.element("summary", {}, "Data of this figure");
  Table table(page, "Relative 2-norm of the first window's gradient error",
              {"Precision", ">K", ">Cases", ">Median drift", ">Worst drift", ">Median bound", ">Worst decision drift"});
  for (const std::string& precision : order) {
    for (const auto& [k, at] : all.at(precision)) {
      auto row = table.row("", "", precision);
      row.head(precision);
      row.cell(std::to_string(k));
      row.cell(grouped(at.drift.size()));
      row.cell(significant(median_of(at.drift)));
      row.cell(significant(worst_of(at.drift)));
      row.cell(significant(median_of(at.bound)));
      row.cell(significant(worst_of(at.decision)));
    }
  }
}

}  // namespace

void drift_figure(Markup& page, const Results& results, const std::string& law) {
  std::map<std::string, ByK> all;
  std::vector<std::string> order;
  for (const std::string& precision : precisions_of(results)) {
    ByK ks = drifts_of(results, precision, law);
    if (ks.empty()) continue;
    order.push_back(precision);
    all[precision] = std::move(ks);
  }
  if (order.empty()) return;
  const auto figure = page.open("figure");
  {
    const auto caption = page.open("figcaption");
    page.element("h3", {}, "Drift against the number of micro-batches" + (law.empty() ? law : ": " + law));
    page.text(
        "The distance of the accumulated gradient from its exact value, as a share of its norm. Round dots and line: "
        "the median case. Square dots: the worst case. The upper line is the median of the derived bounds. Dashed: "
        "what "
        "grows like \u221AK and like K. Drift of a whole window at a fixed batch need not be monotone, so nothing is "
        "fitted.");
  }
  {
    const auto panels = page.open("div", {{"class", "panels"}});
    const std::string prefix = law.empty() ? "p2-" : anchor("p2-", law) + "-";
    for (const std::string& precision : order) panel(page, anchor(prefix, precision), precision, all[precision]);
  }
  data(page, all, order);
}

}  // namespace tally
