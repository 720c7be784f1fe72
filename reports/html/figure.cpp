#include "reports/html/figure.hpp"

#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/html/view.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/utf8.hpp"

namespace tally {
namespace {

constexpr double row_height = 18, sample = 28;

/// Where each entry of the legend stands, row by row; widths are estimated, as no browser is at hand.
struct Legend {
  explicit Legend(const std::vector<StudySeries>& all) {
    double x = 8;
    for (const StudySeries& series : all) {
      const double wide = sample + 22 + 6.3 * static_cast<double>(code_points_in(visible(series.name)));
      if (x > 8 && x + wide > Frame::width) x = 8, ++rows;
      places.push_back({x, Frame::plot_height + 12 + (rows - 1) * row_height});
      x += wide;
    }
  }
  std::vector<Point> places;
  int rows = 1;
};

void legend_entry(Svg& svg, Point place, const StudySeries& series, const Look& look) {
  if (look.joined) svg.line(place, {place.x + sample, place.y}, look.ink, 1.5, look.dashes);
  if (look.marked) svg.path(look.outline({place.x + sample / 2, place.y}), look.ink, 1.3, look.filled);
  svg.text({place.x + sample + 6, place.y + 4}, "start", series.name);
}

/// Read out instead of the drawing: each series from its first point to its last.
std::string description(const StudyPlot& plot) {
  std::string text = plot.up + " against " + plot.along + ". ";
  for (const StudySeries& series : plot.series) {
    text += series.name;
    if (series.x.empty()) {
      text += ": no points. ";
      continue;
    }
    text += ": " + significant(series.y.front()) + " at " + significant(series.x.front()) + ", " +
            significant(series.y.back()) + " at " + significant(series.x.back()) + ". ";
  }
  return text;
}

/// Some of the points as numbers, for those who cannot see the drawing.
void data(Markup& page, const StudyPlot& plot) {
  constexpr std::size_t most = 12;
  const auto details = page.open("details");
  page.element("summary", {}, "Data of this figure");
  Table table(page, plot.title + ": points as numbers", {"Series", ">" + plot.along, ">" + plot.up});
  for (const StudySeries& series : plot.series) {
    for (const std::size_t i : thinned(series.x.size(), most)) {
      auto row = table.row("", "", series.name);
      row.head(series.name);
      row.cell(significant(series.x[i]));
      row.cell(significant(series.y[i]));
    }
  }
}

void drawing(Markup& page, const std::string& id, const StudyPlot& plot, const std::vector<Look>& looks) {
  const auto region = page.open(
      "div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", "Plot: " + plot.title}});
  const Legend legend(plot.series);
  const int height = Frame::plot_height + static_cast<int>(legend.rows * row_height) + 6;
  Svg svg(page, id, plot.title, description(plot), Frame::width, height);
  Frame frame(svg, plot);
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const std::string& name = plot.series[i].name;
    const auto group = page.open("g", {{"data-p", can_be_chosen(name) ? name : ""}});
    frame.draw(plot.series[i], looks[i]);
    legend_entry(svg, legend.places[i], plot.series[i], looks[i]);
  }
}

}  // namespace

void study_figure(Markup& page, const std::string& id, const StudyPlot& plot) {
  study_figure(page, id, plot, looks_of(plot.series), "");
}

void study_figure(Markup& page, const std::string& id, const StudyPlot& plot, const std::vector<Look>& looks,
                  const std::string& sentence) {
  const auto figure = page.open("figure");
  {
    const auto caption = page.open("figcaption");
    page.element("h3", {}, plot.title);
    page.text(sentence);
  }
  drawing(page, id, plot, looks);
  data(page, plot);
}

}  // namespace tally
