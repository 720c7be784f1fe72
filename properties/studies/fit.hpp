// Straight lines through measured points, with the interval that holds the true slope in 95 of 100 studies.
#pragma once

#include <cstddef>
#include <vector>

namespace tally {

struct Interval {
  double low, high;
  bool holds(double value) const { return low <= value && value <= high; }
};

/// y = intercept + slope x by least squares. The interval is Student's, for independent residuals of equal spread:
///   slope ± t(0.975, n - 2) √(Σ residual² / ((n - 2) Σ (x - mean x)²)).
struct Fit {
  double slope, intercept;
  Interval interval;  // of the slope; infinite for two points
  std::size_t points;
};

/// All NaN for fewer than two points or where every x is the same.
Fit fit_line(const std::vector<double>& x, const std::vector<double>& y);

/// y = 2^intercept x^slope, fitted in base-two logarithms; points with an x or y that is not positive and finite are
/// left out.
Fit fit_power(const std::vector<double>& x, const std::vector<double>& y);

/// Where the true root mean square of normal errors lies, by 95 %, when `samples` of them have this one.
Interval root_mean_square_interval(double root_mean_square, std::size_t samples);

}  // namespace tally
