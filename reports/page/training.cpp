// Training runs, and their figure.
#include <algorithm>
#include <cmath>

#include "reports/census/census.hpp"
#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

std::string last_of(const std::vector<double>& series) { return series.empty() ? "" : significant(series.back()); }

void training_row(Markup& page, Table& table, const TrainingRecord& t) {
  auto row = table.row(class_of(t.status));
  row.status(t.status);
  {
    const auto cell = row.open();
    page.text(t.precision + ", " + t.cut);
    page.element("small", {}, t.message);
  }
  row.cell(std::to_string(t.windows));
  row.cell(std::to_string(t.skipped));
  row.cell(last_of(t.semantic_gap));
  row.cell(last_of(t.rounding_drift));
  row.cell(last_of(t.bound));
  row.cell(last_of(t.accumulated_minus_full));
  row.cell(percent(t.accuracy_accumulated));
  row.cell(percent(t.accuracy_full));
  row.cell(significant(t.worst_local_ratio));
  row.cell(grouped(t.checks));
}

void training_table(Markup& page, const std::string& name, const std::vector<const TrainingRecord*>& records) {
  Table table(page, name + ": drift of the parameters after the last window, as a share of their norm",
              {"Verdict", "Configuration", ">Windows", ">Skipped", ">Semantic gap", ">Rounding drift", ">Bound",
               ">Accumulated \u2212 full", ">Accuracy accumulated", ">Accuracy full", ">Worst r", ">Checks"});
  for (const TrainingRecord* t : records) training_row(page, table, *t);
}

}  // namespace

void training_section(Markup& page, const Results& results) {
  if (results.training.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "training"}});
  page.element("h2", {{"id", "training"}}, "Training");
  page.element("p", {},
               "Real data, trained with accumulation and with the full batch. The semantic gap is what the recipe "
               "itself changes, without any rounding; the rounding drift is what the arithmetic adds to it.");
  std::vector<std::pair<std::string, std::vector<const TrainingRecord*>>> models;  // in the order of the records
  for (const TrainingRecord& t : results.training) {
    const std::string name = t.dataset + ", " + t.model;
    auto found = models.begin();
    while (found != models.end() && found->first != name) ++found;
    if (found == models.end()) found = models.insert(found, {name, {}});
    found->second.push_back(&t);
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    page.element("h3", {}, models[i].first);
    training_table(page, models[i].first, models[i].second);
    training_figure(page, "train-" + std::to_string(i), models[i].first, models[i].second);
  }
}

namespace {

using Records = std::vector<const TrainingRecord*>;

std::vector<Point> curve(const Plot& plot, const std::vector<double>& series, std::size_t longest) {
  constexpr std::size_t most = 120;
  std::vector<Point> out;
  const double last = static_cast<double>(std::max<std::size_t>(longest, 2) - 1);
  for (const std::size_t i : thinned(series.size(), most)) {
    if (!std::isfinite(series[i])) break;  // from here on there is no bound
    out.push_back({plot.x(static_cast<double>(i) / last), plot.y(series[i])});
  }
  return out;
}

bool any(const std::vector<double>& series) {
  return std::any_of(series.begin(), series.end(), [](double v) { return v != 0; });
}

std::size_t longest_of(const Records& records) {
  std::size_t longest = 0;
  for (const TrainingRecord* t : records)
    for (const auto* series : {&t->rounding_drift, &t->bound, &t->semantic_gap})
      longest = std::max(longest, series->size());
  return longest;
}

Decades training_decades(const Records& records) {
  Decades decades;
  for (const TrainingRecord* t : records) {
    for (const auto* series : {&t->rounding_drift, &t->bound})
      for (const double value : *series) {
        if (std::isfinite(value)) decades.include(value);
      }
    if (any(t->semantic_gap))
      for (const double value : t->semantic_gap) decades.include(value);
  }
  decades.limit(-18, 6);
  return decades;
}

Ink ink_of(std::size_t cut) { return ink::series[cut % std::size(ink::series)]; }

std::string training_finding(const Records& records) {
  std::string text;
  for (const TrainingRecord* t : records) {
    if (t->rounding_drift.empty()) continue;
    text += (text.empty() ? "" : "; ") + t->cut + ": rounding drift " + significant(t->rounding_drift.back()) +
            " after the last window";
    if (!t->bound.empty()) text += ", bound " + significant(t->bound.back());
  }
  return text;
}

void training_legend(Svg& svg, const Records& records) {
  double x = 8;
  for (std::size_t i = 0; i < records.size(); ++i) {
    svg.line({x, 24}, {x + 14, 24}, ink_of(i), 2);
    svg.text({x + 18, 28}, "start", records[i]->cut);
    x += 26 + 6.5 * static_cast<double>(code_points_in(visible(records[i]->cut)));
  }
}

void training_panel(Markup& page, const std::string& id, const Records& records) {
  const std::string& precision = records.front()->precision;
  const std::size_t longest = longest_of(records);
  const auto box = page.open("div");
  Svg svg(page, id, "Drift by window, " + precision, training_finding(records), Plot::width, Plot::height);
  Plot plot(svg, training_decades(records), precision + ": relative drift of the parameters", 42);
  training_legend(svg, records);
  plot.tick(0, "1"), plot.tick(0.96, std::to_string(longest));
  plot.along("window");
  for (std::size_t i = 0; i < records.size(); ++i) {
    const TrainingRecord& t = *records[i];
    svg.polyline(curve(plot, t.bound, longest), ink_of(i), 1, "5 3");
    svg.polyline(curve(plot, t.rounding_drift, longest), ink_of(i), 1.8);
    if (any(t.semantic_gap)) svg.polyline(curve(plot, t.semantic_gap, longest), ink_of(i), 1.5, "1 3");
  }
}

}  // namespace

void training_figure(Markup& page, const std::string& id, const std::string& name, const Records& records) {
  std::vector<Records> panels;
  for (const TrainingRecord* t : records) {
    if (t->rounding_drift.empty() && t->bound.empty()) continue;
    auto found = panels.begin();
    while (found != panels.end() && found->front()->precision != t->precision) ++found;
    if (found == panels.end()) found = panels.insert(found, Records{});
    found->push_back(t);
  }
  if (panels.empty()) return;
  const auto figure = page.open("figure");
  page.element(
      "figcaption", {},
      name +
          ", drift by window. Solid: rounding drift. Dashed: its derived bound, as far as there is one. Dotted: "
          "semantic gap, where there is one.");
  const auto grid = page.open("div", {{"class", "panels"}});
  for (std::size_t i = 0; i < panels.size(); ++i) training_panel(page, id + "-" + std::to_string(i), panels[i]);
}

}  // namespace tally
