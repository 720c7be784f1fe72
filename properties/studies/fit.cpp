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

double average(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// t(0.975, freedom) √(squares / freedom), half an interval of Student's.
double half_width(double squares, std::size_t freedom) {
  if (freedom == 0) return infinite;
  const auto degrees = static_cast<double>(freedom);
  const double quantile = boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), tail));
  return quantile * std::sqrt(squares / degrees);
}

}  // namespace

Fit fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  Fit fit{nothing, nothing, {nothing, nothing}, x.size()};
  if (x.size() < 2) return fit;
  const double mean_x = average(x), mean_y = average(y);
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
  const double half = half_width(residual / spread, x.size() - 2);
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

Mean mean_of(const std::vector<double>& values) {
  if (values.empty()) return {nothing, {nothing, nothing}};
  const double mean = average(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = half_width(squares / static_cast<double>(values.size()), values.size() - 1);
  return {mean, {mean - half, mean + half}};
}

Interval root_mean_square_interval(double root_mean_square, std::size_t samples) {
  if (samples == 0) return {nothing, nothing};
  const auto freedom = static_cast<double>(samples);
  const boost::math::chi_squared squares(freedom);
  return {root_mean_square * std::sqrt(freedom / boost::math::quantile(boost::math::complement(squares, tail))),
          root_mean_square * std::sqrt(freedom / boost::math::quantile(squares, tail))};
}

}  // namespace tally
