// SVG, a plot with one logarithmic axis, and a study's figure.
#include "reports/html/plot.hpp"

#include <algorithm>
#include <cmath>

#include "reports/html/document.hpp"
#include "reports/html/table.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

Attributes root_attributes(const std::string& id, int width, int height) {
  return {{"role", "img"},
          {"aria-labelledby", id + "-t " + id + "-d"},
          {"viewBox", "0 0 " + std::to_string(width) + " " + std::to_string(height)},
          {"width", std::to_string(width)},
          {"height", std::to_string(height)},
          {"font-size", "11"},
          {"font-family", "system-ui, sans-serif"}};
}

std::string stroked(Ink ink) { return std::string("s ") + ink.name; }
std::string filled(Ink ink) { return std::string("f ") + ink.name; }

}  // namespace

Svg::Svg(Markup& page, const std::string& id, const std::string& title, const std::string& description, int width,
         int height)
    : page_(page), svg_(page.open("svg", root_attributes(id, width, height))) {
  page_.element("title", {{"id", id + "-t"}}, title);
  page_.element("desc", {{"id", id + "-d"}}, description);
}

void Svg::line(Point from, Point to, Ink ink, double width, const std::string& dashes) {
  page_.empty("line", {{"x1", coordinate(from.x)},
                       {"y1", coordinate(from.y)},
                       {"x2", coordinate(to.x)},
                       {"y2", coordinate(to.y)},
                       {"class", stroked(ink)},
                       {"stroke", ink.colour},
                       {"stroke-width", width == 1 ? "" : coordinate(width)},
                       {"stroke-dasharray", dashes}});
}

void Svg::rules(const std::vector<std::pair<Point, Point>>& lines, Ink ink) {
  std::string outline;
  for (const auto& [from, to] : lines) {
    outline += "M" + coordinate(from.x) + " " + coordinate(from.y);
    outline += from.y == to.y ? "H" + coordinate(to.x) : "L" + coordinate(to.x) + " " + coordinate(to.y);
  }
  if (!outline.empty()) page_.empty("path", {{"d", outline}, {"class", stroked(ink)}, {"stroke", ink.colour}});
}

void Svg::text(Point at, const std::string& anchor, std::string_view text, Ink ink) {
  page_.element("text",
                {{"x", coordinate(at.x)},
                 {"y", coordinate(at.y)},
                 {"text-anchor", anchor == "start" ? "" : anchor},
                 {"class", filled(ink)},
                 {"fill", ink.colour}},
                text);
}

void Svg::rectangle(Point corner, double width, double height, Ink ink, const std::string& opacity) {
  page_.empty("rect", {{"x", coordinate(corner.x)},
                       {"y", coordinate(corner.y)},
                       {"width", coordinate(width)},
                       {"height", coordinate(height)},
                       {"class", filled(ink)},
                       {"fill", ink.colour},
                       {"fill-opacity", opacity}});
}

void Svg::polyline(const std::vector<Point>& points, Ink ink, double width, const std::string& dashes) {
  if (points.empty()) return;
  std::string path;
  for (const Point& p : points) path += (path.empty() ? "" : " ") + coordinate(p.x) + "," + coordinate(p.y);
  page_.empty("polyline", {{"points", path},
                           {"class", stroked(ink)},
                           {"fill", "none"},
                           {"stroke", ink.colour},
                           {"stroke-width", coordinate(width)},
                           {"stroke-linejoin", "round"},
                           {"stroke-dasharray", dashes}});
}

void Svg::dots(const std::vector<Point>& points, Ink ink, double size, bool round) {
  if (points.empty()) return;
  std::string path;
  for (const Point& p : points) path += "M" + coordinate(p.x) + " " + coordinate(p.y) + "h0";
  page_.empty("path", {{"d", path},
                       {"class", stroked(ink)},
                       {"fill", "none"},
                       {"stroke", ink.colour},
                       {"stroke-width", coordinate(size)},
                       {"stroke-linecap", round ? "round" : "square"}});
}

void Svg::ring(Point centre, double radius, Ink ink) {
  page_.empty("circle", {{"cx", coordinate(centre.x)},
                         {"cy", coordinate(centre.y)},
                         {"r", coordinate(radius)},
                         {"class", stroked(ink)},
                         {"fill", "none"},
                         {"stroke", ink.colour},
                         {"stroke-width", "1.5"}});
}

void Svg::path(const std::string& outline, Ink ink, double width, bool fill) {
  if (outline.empty()) return;
  page_.empty("path", {{"d", outline},
                       {"class", fill ? "f " + stroked(ink) : stroked(ink)},
                       {"fill", fill ? ink.colour : "none"},
                       {"stroke", ink.colour},
                       {"stroke-width", coordinate(width)}});
}

void Decades::include(double value) {
  if (!std::isfinite(value)) {
    non_finite = true;
  } else if (value == 0) {
    zeros = true;
  } else {
    const double power = std::log10(std::fabs(value));
    const int floor = static_cast<int>(std::floor(power)), ceiling = static_cast<int>(std::ceil(power));
    low = empty_ ? floor : std::min(low, floor);
    high = std::max(empty_ ? ceiling : std::max(high, ceiling), low + 1);
    empty_ = false;
  }
}

void Decades::limit(int lowest, int highest) {
  if (low < lowest) zeros = true;
  if (high > highest) non_finite = true;
  low = std::clamp(low, lowest, highest - 1);
  high = std::clamp(high, low + 1, highest);
}

Plot::Plot(Svg& svg, const Decades& decades, const std::string& up, double top)
    : svg_(svg), decades_(decades), top_(top) {
  svg_.text({2, 12}, "start", up);
  lanes(decades);
  decade_lines();
}

void Plot::lanes(const Decades& decades) {
  constexpr double lane = 16;
  zero_ = bottom_, infinity_ = top_;
  if (decades.zeros) {
    svg_.text({left_ - 6, zero_ + 4}, "end", "0");
    svg_.line({left_, zero_}, {right_, zero_}, ink::grid, 1, "2 3");
    bottom_ -= lane;
  }
  if (decades.non_finite) {
    svg_.text({left_ - 6, infinity_ + 4}, "end", "\u221E NaN");
    svg_.line({left_, infinity_}, {right_, infinity_}, ink::grid, 1, "2 3");
    top_ += lane;
  }
}

void Plot::decade_lines() {
  std::vector<std::pair<Point, Point>> rules;
  const int count = decades_.high - decades_.low, step = (count + 5) / 6;
  for (int power = decades_.low; power <= decades_.high; ++power) {
    const double at = y(std::pow(10.0, power));
    if ((decades_.high - power) % step != 0) continue;
    rules.push_back({{left_, at}, {right_, at}});
    svg_.text({left_ - 6, at + 4}, "end", power == 0 ? "1" : "1e" + std::to_string(power));
  }
  svg_.rules(rules, ink::grid);
  svg_.line({left_, top_}, {left_, bottom_}, ink::axis, 1);
}

double Plot::y(double value) const {
  if (!std::isfinite(value)) return infinity_;
  if (value == 0) return zero_;
  const double power = std::log10(std::fabs(value));
  if (power > decades_.high) return infinity_;
  if (power < decades_.low) return zero_;
  return bottom_ - (power - decades_.low) / (decades_.high - decades_.low) * (bottom_ - top_);
}

void Plot::tick(double share, const std::string& text) { svg_.text({x(share), height - 20}, "middle", text); }

void Plot::along(const std::string& text) { svg_.text({(left_ + right_) / 2, height - 4}, "middle", text); }

void Plot::limit_line() {
  const double at = y(1);
  svg_.rectangle({left_, 22 - 6}, right_ - left_, at - 16, ink::limit, "0.08");
  svg_.line({left_, at}, {right_, at}, ink::limit, 1.5);
  svg_.text({left_ + 4, at - 4}, "start", "limit r = 1", ink::limit);
}

std::vector<std::size_t> thinned(std::size_t count, std::size_t most) {
  std::vector<std::size_t> out;
  if (count <= most) {
    for (std::size_t i = 0; i < count; ++i) out.push_back(i);
  } else {
    for (std::size_t i = 0; i < most; ++i) out.push_back(i * (count - 1) / (most - 1));
  }
  return out;
}

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
