// Where in a failing tensor the errors are, and how they go with the size of the elements: rounding hugs the
// bound at every size, a bug does not.
#include <algorithm>
#include <cmath>

#include "reports/html/figure.hpp"
#include "reports/html/pieces.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
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

}  // namespace tally
