#include <algorithm>

#include "reports/statistics/binomial.hpp"
#include "reports/statistics/paired.hpp"

namespace tally {

double median_lower_limit(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size(), middle = (n + 1) / 2;
  std::size_t low = 1, high = n;  // the first k whose chance reaches the level
  while (low < high) {
    const std::size_t k = (low + high) / 2;
    const double reached = binomial_tail(middle, n, static_cast<double>(k) / static_cast<double>(n));
    if (reached >= level) {
      high = k;
    } else {
      low = k + 1;
    }
  }
  return values[low - 1];
}

double median_upper_limit(std::vector<double> values, double level) {
  for (double& value : values) value = -value;
  return -median_lower_limit(std::move(values), level);
}

}  // namespace tally
