// Every kernel of the run, and how much of its bounds it uses.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "reports/census/census.hpp"
#include "reports/census/unusual.hpp"
#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/text.hpp"

namespace tally {

// Every kernel of the run: what it was shown on, and how much of its bounds it uses.
namespace {

constexpr std::size_t open_kernels = 15;

void row_of(Markup& page, Table& table, const KernelResult& kernel, const Ranking& ranking) {
  auto row = table.row();
  row.head(kernel.name());
  row.cell(kernel.format);
  row.cell(grouped(kernel.cases));
  row.cell(grouped(kernel.shapes));
  row.cell(kernel.paths == 0 ? "\u2013" : grouped(kernel.paths_seen) + " of " + grouped(kernel.paths));
  row.cell(grouped(kernel.checks));
  row.cell(grouped(kernel.vacuous));
  row.cell(kernel.excess == 0 ? "0" : significant(kernel.excess));
  {
    const auto cell = row.open();
    const std::string words = ranking.usual().text(kernel.operation, kernel.format, kernel.excess);
    page.text(words.empty() ? "\u2013" : words);
    if (kernel.worst) {
      const std::string link = ranking.link_to(*kernel.worst);
      const auto small = page.open("small");
      link.empty() ? page.text("c-" + kernel.worst->id) : page.element("a", {{"href", link}}, "c-" + kernel.worst->id);
    }
  }
  row.cell(significant(kernel.ratio));
}

void table_of(Markup& page, const Ranking& ranking, const std::string& caption,
              const std::vector<KernelResult>& kernels) {
  Table table(page, caption,
              {"Kernel", "Format", ">Cases", ">Shapes", ">Paths", ">Tensors", ">Vacuous", ">Most used",
               "As many use it", ">Worst r"});
  for (const KernelResult& kernel : kernels) row_of(page, table, kernel, ranking);
}

void folded(Markup& page, const Ranking& ranking, const std::string& caption,
            const std::vector<KernelResult>& kernels) {
  if (kernels.empty()) return;
  const auto details = page.open("details");
  page.element("summary", {}, caption);
  table_of(page, ranking, caption, kernels);
}

}  // namespace

bool has_kernels(const Results& results) {
  return std::any_of(results.cases.begin(), results.cases.end(), [](const CaseRecord& c) {
    return std::any_of(c.operations.begin(), c.operations.end(), [](const auto& o) { return o.standing.checks > 0; });
  });
}

void kernels_section(Markup& page, const Results& results, const Ranking& ranking) {
  if (!has_kernels(results)) return;
  const Usual& usual = ranking.usual();
  std::vector<KernelResult> several, others, one;
  for (const KernelResult& kernel : kernel_results(results, usual))
    (kernel.one_rounding() ? one : several.size() < open_kernels ? several : others).push_back(kernel);
  const auto section = page.open("section", {{"aria-labelledby", "kernels"}});
  page.element("h2", {{"id", "kernels"}}, "Kernels");
  page.element("p", {},
               "Most used: the largest share of a bound that a tensor uses beyond its last rounding. Beside it, how "
               "many tensors of clean cases use as much" +
                   std::string(usual.known() ? ", from the evidence that is kept with the program"
                                             : ": not known, these results carry no evidence that counts them") +
                   ". Paths are the ways of a kernel's launches, in all formats together. Failing cases stand under "
                   "Failures, with their kernel and its file.");
  kernels_figure(page, results, usual);
  table_of(page, ranking, "Kernels whose bounds are of several roundings, the most unusual first", several);
  folded(page, ranking, "The other " + counted(others.size(), "kernel") + " of several roundings", others);
  folded(page, ranking, counted(one.size(), "kernel") + " whose bound is one rounding or none: r reaches 1 by design",
         one);
}

// How much of its bound every operation uses beyond the last rounding, beside what clean cases use.
namespace {

constexpr double left = 210, right = 770, row_height = 22, top = 26;
constexpr int width = 780;
constexpr const auto& formats = storage_precisions;
constexpr double apart = 5;  // between the formats of a row

using ByFormat = std::map<std::string, double>;

/// The largest excess of an operation in each format, whichever variant ran; operations of one rounding left out.
std::vector<std::pair<std::string, ByFormat>> rows_of(const Results& results, const Usual& usual) {
  std::vector<std::pair<std::string, ByFormat>> rows;
  for (const KernelResult& kernel : kernel_results(results, usual)) {
    const bool shown = std::find(formats.begin(), formats.end(), kernel.format) != formats.end();
    if (!shown || !(kernel.excess > 0) || kernel.one_rounding()) continue;
    auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == kernel.operation; });
    if (found == rows.end()) found = rows.insert(rows.end(), {kernel.operation, {}});
    double& most = found->second[kernel.format];
    most = std::max(most, kernel.excess);
  }
  return rows;
}

double x_of(double excess) { return left + std::clamp(excess, 0.0, 1.0) * (right - left); }

void axis(Svg& svg, double bottom) {
  std::vector<std::pair<Point, Point>> rules;
  for (const double at : {0.0, 0.25, 0.5, 0.75}) {
    rules.push_back({{x_of(at), top - 6}, {x_of(at), bottom}});
    svg.text({x_of(at), top - 10}, "middle", shortest(at));
  }
  svg.rules(rules, ink::grid);
  svg.line({right, top - 6}, {right, bottom}, ink::limit, 1.5);
  svg.text({right, top - 10}, "end", "limit 1", ink::limit);
}

void kernels_data(Markup& page, const std::vector<std::pair<std::string, ByFormat>>& rows, const Usual& usual) {
  const auto details = page.open("details");
  page.element("summary", {}, "Data of this figure");
  Table table(
      page, "Share of the bound used beyond the last rounding",
      {"Operation", "Format", ">Most in this run", ">One in a hundred of clean tensors", ">Most of clean tensors"});
  for (const auto& [operation, by_format] : rows) {
    for (const auto& [format, most] : by_format) {
      auto row = table.row("", "", format);
      const UsualExcess* known = usual.row(operation, format);
      row.head(operation);
      row.cell(format);
      row.cell(significant(most));
      row.cell(known ? significant(usual_at(*known, 0.01)) : "\u2013");
      row.cell(known ? significant(known->excess.back()) : "\u2013");
    }
  }
}

void legend(Markup& page) {
  const auto p = page.open("p", {{"class", "muted"}});
  std::string names;
  for (const char* format : formats) names += (names.empty() ? "" : ", ") + std::string(format);
  page.text(
      "Upper to lower in a row: " + names +
      ". Dots: the most in this run. Lines: of clean cases, from what one tensor in a hundred uses to the most of "
      "all.");
}

}  // namespace

void kernels_figure(Markup& page, const Results& results, const Usual& usual) {
  const auto rows = rows_of(results, usual);
  if (rows.empty()) return;
  const auto figure = page.open("figure");
  {
    const auto caption = page.open("figcaption");
    page.element("h3", {}, "How much of their bounds kernels use");
  }
  const double bottom = top + row_height * static_cast<double>(rows.size());
  {
    const auto region = page.open("div", {{"class", "scroll"},
                                          {"tabindex", "0"},
                                          {"role", "group"},
                                          {"aria-label", "How much of their bounds kernels use"}});
    Svg svg(page, "kernels-figure", "Share of the bound used beyond the last rounding, by operation",
            "The same numbers stand in the tables below.", width, static_cast<int>(bottom) + 4);
    axis(svg, bottom);
    std::vector<std::pair<Point, Point>> spans;
    std::array<std::vector<Point>, formats.size()> dots;
    double y = top + row_height / 2;
    for (const auto& [operation, by_format] : rows) {
      svg.text({left - 8, y + 4}, "end", operation);
      for (std::size_t f = 0; f < formats.size(); ++f) {
        const double at = y + apart * (static_cast<double>(f) - static_cast<double>(formats.size() - 1) / 2);
        const auto found = by_format.find(formats[f]);
        if (found == by_format.end()) continue;
        dots[f].push_back({x_of(found->second), at});
        const UsualExcess* row = usual.row(operation, formats[f]);
        if (row == nullptr || !(row->excess.back() > 0)) continue;
        const double from = usual_at(*row, 0.01);
        spans.push_back({{x_of(from), at}, {std::max(x_of(row->excess.back()), x_of(from) + 1), at}});
      }
      y += row_height;
    }
    svg.rules(spans, ink::axis);
    for (std::size_t f = 0; f < formats.size(); ++f) svg.dots(dots[f], ink::series[f], 5);
  }
  legend(page);
  kernels_data(page, rows, usual);
}

}  // namespace tally
