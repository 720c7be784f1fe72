#include "properties/studies/fit.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace tally {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double tail = 0.025;  // on each side

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double half_width(double residual_squares, double spread_squares, std::size_t points) {
  if (points == 2) return infinite;
  const auto freedom = static_cast<double>(points - 2);
  const double quantile = boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), tail));
  return quantile * std::sqrt(residual_squares / (freedom * spread_squares));
}

}  // namespace

Fit fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  Fit fit{nothing, nothing, {nothing, nothing}, x.size()};
  if (x.size() < 2) return fit;
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double spread = 0, product = 0, residual = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    spread += (x[i] - mean_x) * (x[i] - mean_x);
    product += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (!(spread > 0)) return fit;
  fit.slope = product / spread;
  fit.intercept = mean_y - fit.slope * mean_x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - (fit.intercept + fit.slope * x[i]);
    residual += off * off;
  }
  const double half = half_width(residual, spread, x.size());
  fit.interval = {fit.slope - half, fit.slope + half};
  return fit;
}

Fit fit_power(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> log_x, log_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0 && y[i] > 0 && std::isfinite(x[i]) && std::isfinite(y[i]))) continue;
    log_x.push_back(std::log2(x[i]));
    log_y.push_back(std::log2(y[i]));
  }
  return fit_line(log_x, log_y);
}

Interval root_mean_square_interval(double root_mean_square, std::size_t samples) {
  if (samples == 0) return {nothing, nothing};
  const auto freedom = static_cast<double>(samples);
  const boost::math::chi_squared squares(freedom);
  return {root_mean_square * std::sqrt(freedom / boost::math::quantile(boost::math::complement(squares, tail))),
          root_mean_square * std::sqrt(freedom / boost::math::quantile(squares, tail))};
}

}  // namespace tally
