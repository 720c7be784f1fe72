// The frame of a study's plot: grid, axis titles and the marks of one series.
#pragma once

#include "reports/html/svg.hpp"
#include "reports/record/study.hpp"
#include "reports/study/axis.hpp"

namespace tally {

/// How series number `index` is drawn: twelve looks, colour by colour, each with its own outline; the second six are
/// hollow with dashed lines.
struct Look {
  explicit Look(std::size_t index);
  Ink ink;
  bool filled;
  std::string dashes;
  std::string outline(Point centre) const;

 private:
  std::size_t shape_;
};

class Frame {
 public:
  static constexpr int width = 560, plot_height = 340;

  Frame(Svg& svg, const StudyPlot& plot);

  Point at(double x, double y) const;
  /// Line, intervals and markers.
  void draw(const StudySeries& series, const Look& look);

 private:
  void grid();
  void titles(const StudyPlot& plot);
  void intervals(const StudySeries& series, const Look& look);
  void line(const StudySeries& series, const Look& look);

  Svg& svg_;
  Axis x_, y_;
  double left_ = 58, right_ = width - 12, top_ = 24, bottom_ = plot_height - 42;
};

}  // namespace tally
