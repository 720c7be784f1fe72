// The frame of a study's plot: grid, axis titles and the marks of one series.
#pragma once

#include "reports/html/axis.hpp"
#include "reports/html/svg.hpp"
#include "reports/record/study.hpp"

namespace tally {

/// How a series is drawn: its colour, marker and line.
struct Look {
  Ink ink;
  std::size_t shape = 0;
  bool filled = true;
  std::string dashes;
  bool marked = true, joined = true;  // with a marker at each point; with a line through all of them
  std::string outline(Point centre) const;
};

/// Series whose names begin with the same word share a colour and differ in marker and line: "fp32 drift", "fp32
/// bound". Where all of them do, each has its own colour as far as colours go round.
std::vector<Look> looks_of(const std::vector<StudySeries>& series);

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
  void crowd(const StudySeries& series, const Look& look);

  Svg& svg_;
  Axis x_, y_;
  double left_ = 58, right_ = width - 12, top_ = 24, bottom_ = plot_height - 42;
};

}  // namespace tally
