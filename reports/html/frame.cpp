#include "reports/html/frame.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/text/numbers.hpp"

namespace tally {
namespace {

constexpr std::size_t most_marks = 200;
constexpr std::size_t colours = std::size(ink::series), shapes = 6;

std::vector<double> along(const StudyPlot& plot) {
  std::vector<double> all;
  for (const StudySeries& series : plot.series) all.insert(all.end(), series.x.begin(), series.x.end());
  return all;
}

std::vector<double> up(const StudyPlot& plot) {
  std::vector<double> all;
  for (const StudySeries& series : plot.series) {
    for (const auto* values : {&series.y, &series.low, &series.high}) {
      all.insert(all.end(), values->begin(), values->end());
    }
  }
  return all;
}

std::string move(double x, double y) { return "M" + coordinate(x) + " " + coordinate(y); }

std::string first_word(const std::string& name) { return name.substr(0, name.find(' ')); }

Look look_of(std::size_t colour, std::size_t member) {
  static constexpr const char* dashes[] = {"", "6 3", "2 3"};
  return {ink::series[colour % colours], colour + member, member == 0, dashes[std::min<std::size_t>(member, 2)]};
}

}  // namespace

std::vector<Look> looks_of(const std::vector<StudySeries>& all) {
  std::vector<std::string> words;
  std::vector<std::size_t> members(colours);  // so far of each colour, which groups share once colours go round
  std::vector<Look> looks;
  for (const StudySeries& series : all) {
    const auto found = std::find(words.begin(), words.end(), first_word(series.name));
    const auto group = static_cast<std::size_t>(found - words.begin());
    if (found == words.end()) words.push_back(first_word(series.name));
    looks.push_back(look_of(group, members[group % colours]++));
  }
  if (words.size() > 1) return looks;
  for (std::size_t i = 0; i < looks.size(); ++i) looks[i] = look_of(i, i / colours);
  return looks;
}

std::string Look::outline(Point p) const {
  switch (shape % shapes) {
    case 0:  // circle
      return move(p.x - 3.5, p.y) + "a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z";
    case 1:  // square
      return move(p.x - 3.2, p.y - 3.2) + "h6.4v6.4h-6.4z";
    case 2:  // triangle
      return move(p.x, p.y - 4.2) + "l4 7h-8z";
    case 3:  // diamond
      return move(p.x, p.y - 4.6) + "l4 4.6l-4 4.6l-4 -4.6z";
    case 4:  // triangle, point down
      return move(p.x, p.y + 4.2) + "l4 -7h-8z";
    default:  // cross
      return move(p.x - 3.5, p.y - 3.5) + "l7 7m0 -7l-7 7";
  }
}

Frame::Frame(Svg& svg, const StudyPlot& plot)
    : svg_(svg), x_(along(plot), plot.logarithmic_x), y_(up(plot), plot.logarithmic_y) {
  grid();
  titles(plot);
}

Point Frame::at(double x, double y) const {
  return {left_ + x_.share(x) * (right_ - left_), bottom_ - y_.share(y) * (bottom_ - top_)};
}

void Frame::grid() {
  std::vector<std::pair<Point, Point>> rules, marks;
  for (const Axis::Tick& tick : y_.ticks()) {
    const double y = bottom_ - tick.share * (bottom_ - top_);
    rules.push_back({{left_, y}, {right_, y}});
    svg_.text({left_ - 6, y + 4}, "end", tick.text);
  }
  for (const Axis::Tick& tick : x_.ticks()) {
    const double x = left_ + tick.share * (right_ - left_);
    marks.push_back({{x, bottom_}, {x, bottom_ + 4}});
    svg_.text({x, bottom_ + 17}, "middle", tick.text);
  }
  marks.push_back({{left_, top_}, {left_, bottom_}});
  marks.push_back({{left_, bottom_}, {right_, bottom_}});
  svg_.rules(rules, ink::grid);
  svg_.rules(marks, ink::axis);
}

void Frame::titles(const StudyPlot& plot) {
  svg_.text({4, 12}, "start", plot.up);
  svg_.text({(left_ + right_) / 2, bottom_ + 34}, "middle", plot.along);
}

void Frame::intervals(const StudySeries& series, const Look& look) {
  std::vector<std::pair<Point, Point>> intervals;
  for (std::size_t i = 0; i < series.low.size(); ++i) {
    if (std::isnan(series.low[i]) || std::isnan(series.high[i])) continue;
    intervals.push_back({at(series.x[i], series.low[i]), at(series.x[i], series.high[i])});
  }
  svg_.rules(intervals, look.ink);
}

void Frame::line(const StudySeries& series, const Look& look) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (std::isfinite(series.y[i])) {
      points.push_back(at(series.x[i], series.y[i]));
    } else {
      svg_.polyline(points, look.ink, 1.5, look.dashes);
      points.clear();
    }
  }
  svg_.polyline(points, look.ink, 1.5, look.dashes);
}

/// One dot a pixel: more could not be told apart.
void Frame::crowd(const StudySeries& series, const Look& look) {
  std::set<std::pair<long, long>> pixels;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Point p = at(series.x[i], series.y[i]);
    if (!std::isnan(series.y[i])) pixels.emplace(std::lround(p.x), std::lround(p.y));
  }
  std::vector<Point> dots;
  for (const auto& [x, y] : pixels) dots.push_back({static_cast<double>(x), static_cast<double>(y)});
  svg_.dots(dots, look.ink, 3, look.shape % 2 == 0);
}

void Frame::draw(const StudySeries& series, const Look& look) {
  intervals(series, look);
  if (look.joined) line(series, look);
  if (!look.marked) return;
  if (series.x.size() > most_marks) return crowd(series, look);
  std::string outlines;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isnan(series.y[i])) outlines += look.outline(at(series.x[i], series.y[i]));
  }
  svg_.path(outlines, look.ink, 1.3, look.filled);
}

}  // namespace tally
