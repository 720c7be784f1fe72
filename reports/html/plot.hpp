// Drawings: SVG, axes, frames, plots and a study's figure. Defined in plot.cpp, frame.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/record/study.hpp"
#include "reports/text/markup.hpp"

namespace tally {

// Drawings: marks carry presentation attributes, so that they show where the style sheet is dropped; classes let the
// style sheet recolour them for a dark page.

struct Point {
  double x = 0, y = 0;
};

/// A colour of the palette and its class.
struct Ink {
  const char* name;    // class
  const char* colour;  // on a light page
};

namespace ink {
inline constexpr Ink axis{"i-axis", "#6b6b6b"}, grid{"i-grid", "#dcdcdc"}, text{"i-text", "#3c3c3c"};
inline constexpr Ink limit{"i-bad", "#b00020"}, good{"i-ok", "#006b3c"};
inline constexpr Ink series[] = {{"i-0", "#0b57d0"}, {"i-1", "#8a4b00"}, {"i-2", "#6a1b9a"},
                                 {"i-3", "#006b5e"}, {"i-4", "#a3006b"}, {"i-5", "#4f5b00"}};
}  // namespace ink

class Svg {
 public:
  /// `id` must be unique in the page; title and description are read out instead of the drawing.
  Svg(Markup& page, const std::string& id, const std::string& title, const std::string& description, int width,
      int height);

  void line(Point from, Point to, Ink ink, double width, const std::string& dashes = "");
  /// Thin straight lines as one mark.
  void rules(const std::vector<std::pair<Point, Point>>& lines, Ink ink);
  void text(Point at, const std::string& anchor, std::string_view text, Ink ink = ink::text);
  void rectangle(Point corner, double width, double height, Ink ink, const std::string& opacity);
  void polyline(const std::vector<Point>& points, Ink ink, double width, const std::string& dashes = "");
  /// All of them as one path: a round or square dot at each point.
  void dots(const std::vector<Point>& points, Ink ink, double size, bool round = true);
  void ring(Point centre, double radius, Ink ink);
  /// Closed or open outlines in path syntax, filled or not.
  void path(const std::string& outline, Ink ink, double width, bool fill);

 private:
  Markup& page_;
  Markup::Open svg_;
};

// One axis of a study's plot: where a value lies on it, and what is written beside it.

class Axis {
 public:
  struct Tick {
    double share;  // 0..1 along the axis
    std::string text;
  };

  /// Holds all `values`. A logarithmic axis counts in powers of two where every value is one (labelled 2^k), else in
  /// powers of ten; what is zero or negative lies in a lane at its low end, and what is infinite in one at its high
  /// end. NaN has no place.
  Axis(const std::vector<double>& values, bool logarithmic);

  double share(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void span(const std::vector<double>& finite);
  void lanes(const std::vector<double>& values);
  void logarithmic_ticks();
  void linear_ticks();
  void add_tick(double value, const std::string& text);

  bool logarithmic_, powers_of_two_ = false;
  double low_ = 0, high_ = 1;              // logarithms on a logarithmic axis
  double low_share_ = 0, high_share_ = 1;  // inside the lanes
  bool low_lane_ = false, high_lane_ = false;
  std::vector<Tick> ticks_;
};

/// "2⁷" for base 2 and exponent 7; "1" for exponent 0.
std::string power_text(int base, int exponent);

// The frame of a study's plot: grid, axis titles and the marks of one series.

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

// A frame to plot in: one logarithmic axis up, with a lane for zero below it and a lane for what is not finite above.

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

// A study's plot as a drawing: a frame with two axes, series told apart by colour, marker and line, and a legend.

/// `id` must be unique in the page. Under the drawing stands a folded table of its points; of long series some.
void study_figure(Markup& page, const std::string& id, const StudyPlot& plot);
/// The same with the looks given, one a series, and a sentence under the title.
void study_figure(Markup& page, const std::string& id, const StudyPlot& plot, const std::vector<Look>& looks,
                  const std::string& sentence);

}  // namespace tally
