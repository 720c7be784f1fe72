// Drawings: marks carry presentation attributes, so that they show where the style sheet is dropped; classes let the
// style sheet recolour them for a dark page.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/text/markup.hpp"

namespace tally {

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

}  // namespace tally
