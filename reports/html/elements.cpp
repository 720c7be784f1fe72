// Where in a failing tensor the errors are: by size, and by row and column.
#include <algorithm>
#include <cmath>

#include "reports/census/census.hpp"
#include "reports/html/document.hpp"
#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/text/text.hpp"

namespace tally {

// Where in a failing tensor the errors are, and how they go with the size of the elements: rounding hugs the
// bound at every size, a bug does not.
namespace {

constexpr const char* ulps = "ulp of the storage format";

/// What is left of zero goes below the axis' break, NaN above it.
double size_of(double error) { return std::isnan(error) ? std::numeric_limits<double>::infinity() : error; }

/// The largest errors to one side in each stretch.
StudySeries side(const char* name, const std::vector<double>& errors, std::uint64_t stretch, double sign) {
  StudySeries series{name, {}, {}, {}, {}};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!(sign * errors[i] > 0) && !std::isnan(errors[i])) continue;
    series.x.push_back(static_cast<double>(i * stretch));
    series.y.push_back(size_of(sign * errors[i]));
  }
  return series;
}

StudySeries bound_along(const ElementProfile& p) {
  StudySeries series{"bound of the worst element", {}, p.bound, {}, {}};
  for (std::size_t i = 0; i < p.bound.size(); ++i) series.x.push_back(static_cast<double>(i * p.stretch));
  return series;
}

StudySeries by_size(const char* name, const std::vector<double>& values, const ElementProfile& p) {
  StudySeries series{name, {}, {}, {}, {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    series.x.push_back(std::fabs(p.value[i]));
    series.y.push_back(size_of(values[i]));
  }
  return series;
}

Look scattered(Ink ink, std::size_t shape, bool filled) { return {ink, shape, filled, "", true, false}; }

}  // namespace

void element_figures(Markup& page, const std::string& id, const TensorCheck& check) {
  const ElementProfile& p = check.profile;
  if (p.stretch == 0 || p.value.size() != p.error.size() || p.value.size() != p.bound.size()) return;
  const auto grid = page.open("div", {{"class", "studies"}});
  const StudyPlot along{
      "Where in " + check.tap,
      "element, row by row" + (p.stretch > 1 ? ", " + grouped(p.stretch) + " to a mark" : ""),
      std::string("largest error, ") + ulps,
      false,
      true,
      {side("too large", p.high, p.stretch, 1), side("too small", p.low, p.stretch, -1), bound_along(p)}};
  study_figure(
      page, id + "-p5", along,
      {scattered(ink::series[0], 2, true), scattered(ink::series[1], 4, true), {ink::limit, 0, false, "", false, true}},
      "What stands over the line breaks its bound. A pattern along the axis is a tile, a row or a tail.");
  const StudyPlot size{"Error against size in " + check.tap,
                       "|expected|, of the worst element of each stretch",
                       std::string("error, ") + ulps,
                       true,
                       true,
                       {by_size("error", p.error, p), by_size("bound", p.bound, p)}};
  study_figure(
      page, id + "-p6", size, {scattered(ink::series[0], 0, true), scattered(ink::limit, 5, false)},
      "Cancellation shows as errors of small elements under a bound that rises with them; a bug does not care.");
}

// Where in a failing matrix the errors are, by row and column: a tile, a row or a column that is wrong shows at once.
namespace {

/// How a block is drawn: apart in size and colour, so that either tells.
struct Class {
  double over;  // r above this
  double side;  // of the square, as a share of the block
  Ink ink;
  const char* name;
};

constexpr Class classes[] = {{0, 0.3, ink::axis, "r at most 0.1"},
                             {0.1, 0.55, ink::series[0], "r at most 1"},
                             {1, 0.8, ink::series[1], "r over 1: outside the bound"},
                             {10, 1, ink::limit, "r over 10, or not finite"}};

/// Blocks of the map, and where each stands.
class Blocks {
 public:
  explicit Blocks(const ElementMap& map)
      : map_(map), across_((map.columns + map.block_columns - 1) / map.block_columns) {}

  std::size_t across() const { return across_; }
  std::size_t down() const { return across_ == 0 ? 0 : map_.ratio.size() / across_; }
  std::string rows(std::size_t block) const { return range(block / across_, map_.block_rows, map_.rows); }
  std::string columns(std::size_t block) const { return range(block % across_, map_.block_columns, map_.columns); }

 private:
  static std::string range(std::size_t i, std::uint64_t each, std::uint64_t all) {
    const std::uint64_t first = i * each, last = std::min(first + each, all) - 1;
    return first == last ? std::to_string(first) : std::to_string(first) + " to " + std::to_string(last);
  }
  const ElementMap& map_;
  std::size_t across_;
};

bool is_over(double ratio) { return !(ratio <= 1); }

/// "12 of 640 blocks are outside the bound, all in rows 0 to 15 and columns 8 to 11".
std::string finding(const ElementMap& map, const Blocks& blocks) {
  std::uint64_t over = 0, left = map.columns, right = 0, top = map.rows, bottom = 0;
  for (std::size_t i = 0; i < map.ratio.size(); ++i) {
    if (!is_over(map.ratio[i])) continue;
    const std::uint64_t row = i / blocks.across() * map.block_rows, column = i % blocks.across() * map.block_columns;
    ++over;
    left = std::min(left, column), right = std::max(right, std::min(column + map.block_columns, map.columns) - 1);
    top = std::min(top, row), bottom = std::max(bottom, std::min(row + map.block_rows, map.rows) - 1);
  }
  const bool elements = map.block_rows * map.block_columns == 1;
  std::string text = grouped(over) + " of " + counted(map.ratio.size(), elements ? "element" : "block") +
                     (over == 1 ? " is" : " are") + " outside the bound";
  if (over == 0) return text;
  return text + (over == 1 ? ", in" : ", all in") + " rows " + std::to_string(top) + " to " + std::to_string(bottom) +
         " and columns " + std::to_string(left) + " to " + std::to_string(right);
}

/// The blocks of one class as one outline.
std::string outline(const ElementMap& map, std::size_t across, const Class& kind, double upto, double size,
                    Point corner) {
  std::string path;
  const double inset = size * (1 - kind.side) / 2;
  const std::string side = coordinate(size * kind.side);
  for (std::size_t i = 0; i < map.ratio.size(); ++i) {
    const double r = map.ratio[i];
    if (!(r > kind.over) || !(r <= upto)) continue;
    path += "M" + coordinate(corner.x + size * static_cast<double>(i % across) + inset) + " " +
            coordinate(corner.y + size * static_cast<double>(i / across) + inset) + "h" + side + "v" + side + "h-" +
            side + "z";
  }
  return path;
}

void map_drawing(Markup& page, const std::string& id, const TensorCheck& check, const Blocks& blocks) {
  const ElementMap& map = check.profile.map;
  constexpr double left = 44, top = 22, most_across = 400, most_down = 320, largest = 20;
  const double size = std::min(
      {largest, most_across / static_cast<double>(blocks.across()), most_down / static_cast<double>(blocks.down())});
  const double width = size * static_cast<double>(blocks.across()), height = size * static_cast<double>(blocks.down());
  const int wide = static_cast<int>(std::ceil(left + std::max(width, 60.0) + 8));
  const int high = static_cast<int>(std::ceil(top + height + 34));
  Svg svg(page, id, "Error / bound in " + check.tap, finding(map, blocks), wide, high);
  svg.text({2, 12}, "start", "row");
  svg.text({left - 6, top + std::min(size, 12.0)}, "end", "0");
  svg.text({left - 6, top + height}, "end", std::to_string(map.rows - 1));
  svg.text({left, top + height + 14}, "start", "0");
  svg.text({left + std::max(width, 24.0), top + height + 14}, "end", std::to_string(map.columns - 1));
  svg.text({left, top + height + 29}, "start", "column");
  svg.rectangle({left, top}, width, height, ink::grid, "0.35");
  for (std::size_t i = 0; i < std::size(classes); ++i) {
    const double upto = i + 1 < std::size(classes) ? classes[i + 1].over : INFINITY;
    const std::string path = outline(map, blocks.across(), classes[i], upto, size, {left, top});
    if (!path.empty()) svg.path(path, classes[i].ink, 0, true);
  }
}

void map_data(Markup& page, const TensorCheck& check, const Blocks& blocks) {
  constexpr std::size_t listed = 12;
  const std::vector<double>& ratio = check.profile.map.ratio;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < ratio.size(); ++i)
    if (!(ratio[i] <= 0)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&ratio](std::size_t a, std::size_t b) { return ratio_is_worse(ratio[a], ratio[b]); });
  order.resize(std::min(order.size(), listed));
  const auto details = page.open("details");
  page.element("summary", {}, "Data of this figure");
  Table table(page, "The worst blocks of " + check.tap, {"Rows", "Columns", ">r"});
  for (const std::size_t i : order) {
    auto row = table.row();
    row.head(blocks.rows(i));
    row.cell(blocks.columns(i));
    row.cell(significant(ratio[i]));
  }
}

}  // namespace

void element_map(Markup& page, const std::string& id, const TensorCheck& check) {
  const ElementMap& map = check.profile.map;
  if (map.rows == 0 || map.columns == 0 || map.block_rows == 0 || map.block_columns == 0) return;
  const Blocks blocks(map);
  if (map.ratio.empty() || blocks.across() * blocks.down() != map.ratio.size()) return;
  const auto figure = page.open("figure");
  {
    const auto caption = page.open("figcaption");
    page.element("h3", {}, "By row and column in " + check.tap);
    std::string text = finding(map, blocks) + ". ";
    if (map.block_rows * map.block_columns > 1)
      text += "A square stands for " + std::to_string(map.block_rows) + " x " + std::to_string(map.block_columns) +
              " elements, by the worst of them. ";
    text += "From small to large: ";
    for (const Class& kind : classes) text += std::string(kind.name) + (&kind == std::end(classes) - 1 ? "." : "; ");
    page.text(text + " Empty: exact.");
  }
  map_drawing(page, id, check, blocks);
  map_data(page, check, blocks);
}

}  // namespace tally
