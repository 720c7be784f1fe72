// A frame to plot in: one logarithmic axis up, with a lane for zero below it and a lane for what is not finite above.
#pragma once

#include <string>
#include <vector>

#include "reports/html/svg.hpp"

namespace tally {

/// Decades that hold the positive finite values given.
struct Decades {
  int low = -1, high = 0;
  bool zeros = false, non_finite = false;  // whether a lane is needed

  void include(double value);
  /// Keeps the axis readable: values further out go to the lanes.
  void limit(int lowest, int highest);

 private:
  bool empty_ = true;
};

class Plot {
 public:
  static constexpr int width = 280, height = 210;

  /// `top` leaves room for a legend under the title.
  Plot(Svg& svg, const Decades& decades, const std::string& up, double top = 22);

  double x(double share) const { return left_ + share * (right_ - left_); }  // share of the width, 0..1
  double y(double value) const;
  Svg& svg() { return svg_; }

  /// A label under the axis, and under all of them the name of what runs along it.
  void tick(double share, const std::string& text);
  void along(const std::string& text);
  /// The limit r = 1 and the zone over it.
  void limit_line();

 private:
  void decade_lines();
  void lanes(const Decades& decades);

  Svg& svg_;
  Decades decades_;
  double left_ = 48, right_ = width - 8, top_, bottom_ = height - 38;
  double zero_ = 0, infinity_ = 0;  // the lanes
};

/// At most `most` of the values, evenly spaced by rank, the last kept; `values` sorted.
std::vector<std::size_t> thinned(std::size_t count, std::size_t most);

}  // namespace tally
