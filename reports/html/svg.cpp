#include "reports/html/svg.hpp"

#include "reports/text/numbers.hpp"

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

}  // namespace tally
