// How far the subject drifts from the full batch.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/census/census.hpp"
#include "reports/html/document.hpp"
#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/text.hpp"

namespace tally {

// How far the subject is from the full batch, split into what the recipe changes and what rounding adds.
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

// Rounding drift against the number of micro-batches, a series for each combination of formats, with the derived bound
// beside it. A case that accumulates in fp16 drifts otherwise than one that stores fp32: together they would show
// neither.
namespace {

struct AtK {
  std::vector<double> drift, bound, decision;
};
using ByK = std::map<int, AtK>;

/// Laws of the family "scale" vary K and nothing else; where one ran, the figure of all laws is its alone: of several
/// the one with the most cases, as the addends of another may be of another kind.
std::set<std::string> scale_law(const Results& results) {
  const LawRecord* most = nullptr;
  for (const LawRecord& law : results.laws)
    if (law.family == "scale" && law.cases > 0 && (most == nullptr || law.cases > most->cases)) most = &law;
  return most == nullptr ? std::set<std::string>{} : std::set{most->name};
}

/// What a case computes with: "fp32", "fp32, buffer fp16, TF32". Older results say no more than where it stores.
const std::string& formats_of(const CaseRecord& c) { return c.formats.empty() ? c.precision : c.formats; }

struct Combination {
  std::string formats, precision;
  bool is_default() const { return formats == precision; }
};

/// The default ones first, each precision in its order, then the others by name.
std::vector<Combination> combinations_of(const Results& results) {
  std::vector<Combination> first, others;
  for (const std::string& precision : precisions_of(results)) {
    first.push_back({precision, precision});
    std::set<std::string> names;
    for (const CaseRecord& c : results.cases)
      if (c.precision == precision && formats_of(c) != precision) names.insert(formats_of(c));
    for (const std::string& name : names) others.push_back({name, precision});
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

ByK drifts_of(const Results& results, const Combination& combination, const std::string& law) {
  const std::set<std::string> chosen = law.empty() ? scale_law(results) : std::set{law};
  ByK out;
  for (const CaseRecord& c : results.cases) {
    const bool measured = c.rounding_drift != 0 || c.drift_bound != 0;
    if (!chosen.empty() && !chosen.contains(c.law)) continue;
    if (c.precision != combination.precision || formats_of(c) != combination.formats) continue;
    if (!measured || c.micro_batches < 1 || !was_judged(c.status)) continue;
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

std::string drift_finding(const ByK& ks) {
  const auto& [k, at] = *ks.rbegin();
  return "K from " + std::to_string(ks.begin()->first) + " to " + std::to_string(k) + "; at K = " + std::to_string(k) +
         " the median drift is " + significant(median_of(at.drift)) + " and the median bound " +
         significant(median_of(at.bound));
}

struct Series {
  Combination of;
  ByK ks;
};

void drift_panel(Markup& page, const std::string& id, const Series& series) {
  const ByK& ks = series.ks;
  const std::string& formats = series.of.formats;
  Decades decades;
  for (const auto& [k, at] : ks)
    for (const double shown : {median_of(at.drift), worst_of(at.drift), median_of(at.bound)}) decades.include(shown);
  decades.limit(-18, 6);
  const auto box = page.open("div", {{"data-p", can_be_chosen(series.of.precision) ? series.of.precision : ""}});
  {
    Svg svg(page, id, "Drift against K, " + formats, drift_finding(ks), Plot::width, Plot::height);
    Plot plot(svg, decades, formats + ": relative drift");
    ticks(plot, ks);
    guides(svg, plot, ks);
    curves(svg, plot, ks);
  }
  page.element("p", {{"class", "muted"}}, drift_finding(ks));
}

void drift_data(Markup& page, const std::vector<Series>& all) {
  const auto details = page.open("details");
  page.element("summary", {}, "Data of this figure");
  Table table(page, "Relative 2-norm of the first window's gradient error",
              {"Formats", ">K", ">Cases", ">Median drift", ">Worst drift", ">Median bound", ">Worst decision drift"});
  for (const auto& [of, ks] : all) {
    for (const auto& [k, at] : ks) {
      auto row = table.row("", "", of.precision);
      row.head(of.formats);
      row.cell(std::to_string(k));
      row.cell(grouped(at.drift.size()));
      row.cell(significant(median_of(at.drift)));
      row.cell(significant(worst_of(at.drift)));
      row.cell(significant(median_of(at.bound)));
      row.cell(significant(worst_of(at.decision)));
    }
  }
}

void panels(Markup& page, const std::string& prefix, const std::vector<const Series*>& chosen) {
  const auto grid = page.open("div", {{"class", "panels"}});
  for (const Series* series : chosen) drift_panel(page, anchor(prefix, series->of.formats), *series);
}

void caption_of(Markup& page, const std::string& law) {
  const auto caption = page.open("figcaption");
  page.element("h3", {}, "Drift against the number of micro-batches" + (law.empty() ? law : ": " + law));
  page.text(
      "The distance of the accumulated gradient from its exact value, as a share of its norm. Round dots and line: "
      "the median case. Square dots: the worst case. The upper line is the median of the derived bounds. Dashed: what "
      "grows like \u221AK and like K. Drift of a whole window at a fixed batch need not be monotone, so nothing is "
      "fitted. Each combination of formats has its own panel.");
}

}  // namespace

void drift_figure(Markup& page, const Results& results, const std::string& law) {
  constexpr std::size_t least_points = 3;  // of a panel that is none of the default ones
  std::vector<Series> all;
  for (const Combination& combination : combinations_of(results)) {
    ByK ks = drifts_of(results, combination, law);
    if (!ks.empty()) all.push_back({combination, std::move(ks)});
  }
  if (all.empty()) return;
  std::vector<const Series*> first, others;
  for (const Series& series : all) {
    if (series.of.is_default()) first.push_back(&series);
    if (!series.of.is_default() && series.ks.size() >= least_points) others.push_back(&series);
  }
  const std::string prefix = law.empty() ? "p2-" : anchor("p2-", law) + "-";
  const auto figure = page.open("figure");
  caption_of(page, law);
  panels(page, prefix, first);
  if (!others.empty()) {
    const auto details = page.open("details");
    page.element("summary", {}, counted(others.size(), "other combination") + " of formats");
    panels(page, prefix, others);
  }
  drift_data(page, all);
}

}  // namespace tally
