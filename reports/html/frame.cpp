// One axis, and the frame of a study's plot.
#include <algorithm>
#include <cmath>
#include <set>

#include "reports/html/plot.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

constexpr double lane = 0.08, margin = 0.03;
constexpr double few_decades = 2;    // of these, 2 and 5 are shown too
constexpr double close = 0x1p-30;    // of logarithms
constexpr double longest_span = 24;  // decades; what is further down joins the zeros

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && value > 0 && std::frexp(value, &exponent) == 0.5;
}

/// The step of 1, 2 or 5 times a power of ten that cuts the span into at most `most` parts.
double round_step(double span, int most) {
  const double least = span / most, power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (least <= factor * power) return factor * power;
  }
  return 10 * power;
}

/// The logarithm of the next 1, 2 or 5 times a power of ten at or beyond 10^power, downwards or upwards.
double round_power(double power, int direction) {
  const double decade = std::floor(power);
  double below = decade;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    const double at = decade + std::log10(factor);
    if (at >= power - close) return direction > 0 || at <= power + close ? at : below;
    below = at;
  }
  return decade + 1;
}

}  // namespace

std::string power_text(int base, int exponent) {
  static constexpr const char* digits[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                           "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  if (exponent == 0) return "1";
  std::string text = std::to_string(base);
  if (exponent == 1) return text;
  for (const char c : std::to_string(exponent)) text += c == '-' ? "\u207B" : digits[c - '0'];
  return text;
}

Axis::Axis(const std::vector<double>& values, bool logarithmic) : logarithmic_(logarithmic) {
  powers_of_two_ = logarithmic && !values.empty() && std::all_of(values.begin(), values.end(), is_power_of_two);
  std::vector<double> finite;
  for (const double value : values) {
    if (std::isfinite(value) && (!logarithmic || value > 0)) finite.push_back(value);
  }
  span(finite);
  lanes(values);
  logarithmic ? logarithmic_ticks() : linear_ticks();
}

void Axis::span(const std::vector<double>& finite) {
  if (finite.empty()) return;
  const auto [least, most] = std::minmax_element(finite.begin(), finite.end());
  low_ = *least, high_ = *most;
  if (logarithmic_) {
    const double least_power = std::log10(low_), most_power = std::log10(high_);
    low_ = powers_of_two_ ? std::log2(low_) : std::floor(least_power);
    high_ = powers_of_two_ ? std::log2(high_) : std::ceil(most_power);
    if (!powers_of_two_ && high_ - low_ <= few_decades)
      low_ = round_power(least_power, -1), high_ = round_power(most_power, 1);
    if (!powers_of_two_) low_ = std::max(low_, high_ - longest_span);
  } else {
    const double step = round_step(high_ > low_ ? high_ - low_ : std::max(1.0, std::fabs(high_)), 6);
    low_ = step * std::floor(low_ / step), high_ = step * std::ceil(high_ / step);
  }
  if (!(high_ > low_)) high_ = low_ + 1;
}

void Axis::lanes(const std::vector<double>& values) {
  const double floor = logarithmic_ ? std::exp2(low_ * (powers_of_two_ ? 1 : std::log2(10.0))) * (1 - 0x1p-20) : 0;
  bool negative = false;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    if (std::isinf(value)) {
      high_lane_ = true;
    } else if (logarithmic_ && value < floor) {
      low_lane_ = true;
      negative = negative || value < 0;
    }
  }
  low_share_ = low_lane_ ? lane : margin, high_share_ = 1 - (high_lane_ ? lane : margin);
  if (low_lane_) ticks_.push_back({0, negative ? "\u2264 0" : "0"});
  if (high_lane_) ticks_.push_back({1, "\u221E"});
}

double Axis::share(double value) const {
  if (!std::isfinite(value)) return 1;
  if (logarithmic_ && value <= 0) return 0;
  const double at = !logarithmic_ ? value : powers_of_two_ ? std::log2(value) : std::log10(value);
  if (logarithmic_ && low_lane_ && at < low_) return 0;
  return low_share_ + (at - low_) / (high_ - low_) * (high_share_ - low_share_);
}

void Axis::add_tick(double value, const std::string& text) { ticks_.push_back({share(value), text}); }

void Axis::logarithmic_ticks() {
  const int first = static_cast<int>(std::floor(low_ + close)), last = static_cast<int>(std::ceil(high_ - close));
  const int base = powers_of_two_ ? 2 : 10, step = (last - first + 9) / 10;
  const bool finer = base == 10 && high_ - low_ <= few_decades;
  for (int power = first; power <= last; ++power) {
    for (const int factor : {1, 2, 5}) {
      const double value = factor * std::pow(base, power);
      const double at = std::log10(value);
      if (finer ? at > high_ + close || at < low_ - close : factor > 1) continue;
      if (finer || (last - power) % step == 0) add_tick(value, finer ? significant(value) : power_text(base, power));
    }
  }
}

void Axis::linear_ticks() {
  const double step = round_step(high_ - low_, 6);
  const auto count = static_cast<int>(std::lround((high_ - low_) / step));
  for (int i = 0; i <= count; ++i) {
    const double value = low_ + i * step;
    const bool whole = std::trunc(value) == value && std::fabs(value) <= 1e6;
    add_tick(value, whole ? std::to_string(std::lround(value)) : significant(std::fabs(value) < step / 2 ? 0 : value));
  }
}

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
