// Straight lines through measured points, limits of a probability, and means with intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tally {

// Straight lines through measured points, with the interval that holds the true slope in 95 of 100 studies.

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

/// The mean of independent values, with Student's interval of 95 %: mean ± t(0.975, n - 1) s / √n. NaN for none,
/// infinite for one.
struct Mean {
  double value;
  Interval interval;
};
Mean mean_of(const std::vector<double>& values);

/// Where the true root mean square of normal errors lies, by 95 %, when `samples` of them have this one.
Interval root_mean_square_interval(double root_mean_square, std::size_t samples);

// Exact confidence limits of a probability that was seen `events` times in `trials` independent draws.

/// One-sided Clopper-Pearson limits: the probability lies below the upper one (above the lower one) with this
/// confidence, whatever it is. No event in n trials: 1 - (1 - confidence)^(1/n), about 3/n at 95 %.
/// Without trials nothing is known: 1 and 0. Throws std::invalid_argument for more events than trials.
double clopper_pearson_upper(std::uint64_t events, std::uint64_t trials, double confidence = 0.95);
double clopper_pearson_lower(std::uint64_t events, std::uint64_t trials, double confidence = 0.95);

// Means of numbers drawn alike, with intervals.

/// Mean, standard deviation, and an interval of five standard errors to each side: a true mean lies outside with
/// probability below 10^-6, so that a study that demands a few hundred of them hardly ever fails by chance.
struct MeanInterval {
  double value = 0, spread = 0, error = 0;
  double low() const { return value - error; }
  double high() const { return value + error; }
  /// False where any of it is NaN.
  bool contains(double x) const { return low() <= x && x <= high(); }
};

/// The interval of the mean of at least two numbers.
MeanInterval mean_interval(const std::vector<double>& drawn);

/// The quotient of two means of numbers drawn in pairs; its interval to first order (delta method).
MeanInterval quotient_interval(const std::vector<double>& above, const std::vector<double>& below);

/// Root mean square and extremes of what was added.
class Spread {
 public:
  void add(double value);
  double rms() const;
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double squares_ = 0, low_ = 0, high_ = 0;
  int count_ = 0;
};

/// "1.2 and 3.4", "1, 2 and 3"; three significant digits each.
std::string listed(const std::vector<double>& numbers);

}  // namespace tally
