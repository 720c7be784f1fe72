// Straight lines through measured points, limits of a probability, and means with intervals.
#include "properties/lab/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "properties/lab/study.hpp"

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

namespace {

using Binomial = boost::math::binomial_distribution<double>;

void require_possible(std::uint64_t events, std::uint64_t trials) {
  if (!(events <= trials)) throw std::invalid_argument("more events than trials");
}

}  // namespace

double clopper_pearson_upper(std::uint64_t events, std::uint64_t trials, double confidence) {
  require_possible(events, trials);
  if (events == trials) return 1;
  return Binomial::find_upper_bound_on_p(static_cast<double>(trials), static_cast<double>(events), 1 - confidence);
}

double clopper_pearson_lower(std::uint64_t events, std::uint64_t trials, double confidence) {
  require_possible(events, trials);
  if (events == 0) return 0;
  return Binomial::find_lower_bound_on_p(static_cast<double>(trials), static_cast<double>(events), 1 - confidence);
}

namespace {

constexpr double standard_errors = 5;

}  // namespace

MeanInterval mean_interval(const std::vector<double>& drawn) {
  MeanInterval mean;
  const auto n = static_cast<double>(drawn.size());
  double squares = 0;
  for (const double each : drawn) mean.value += each / n;
  for (const double each : drawn) squares += (each - mean.value) * (each - mean.value);
  mean.spread = std::sqrt(squares / (n - 1));
  mean.error = standard_errors * mean.spread / std::sqrt(n);
  return mean;
}

MeanInterval quotient_interval(const std::vector<double>& above, const std::vector<double>& below) {
  const double bottom = mean_interval(below).value, value = mean_interval(above).value / bottom;
  std::vector<double> linear;
  for (std::size_t i = 0; i < above.size(); ++i) linear.push_back(value + (above[i] - value * below.at(i)) / bottom);
  return mean_interval(linear);
}

void Spread::add(double value) {
  low_ = count_ == 0 ? value : std::min(low_, value);
  high_ = count_ == 0 ? value : std::max(high_, value);
  squares_ += value * value;
  ++count_;
}

double Spread::rms() const { return std::sqrt(squares_ / count_); }

std::string listed(const std::vector<double>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ";
    text += three_digits(numbers[i]);
  }
  return text;
}

}  // namespace tally
