#include "reports/html/plot.hpp"

#include <algorithm>
#include <cmath>

namespace tally {

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

}  // namespace tally
