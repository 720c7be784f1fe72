// Means of numbers drawn alike, with intervals.
#pragma once

#include <string>
#include <vector>

namespace tally {

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
