#include "oracle/tolerance/alike.hpp"

#include <algorithm>
#include <cmath>

namespace tally::oracle {

std::vector<double> sorted_magnitudes(std::vector<double> x) {
  for (double& each : x) each = std::fabs(each);
  std::erase_if(x, [](double each) { return !(each > 0 && std::isfinite(each)); });
  std::sort(x.begin(), x.end());
  return x;
}

double alike(std::vector<double> addends, double cell) {
  const std::vector<double> sorted = sorted_magnitudes(std::move(addends));
  double squares = 0;
  each_run(sorted, cell, [&](std::size_t first, std::size_t last) {
    squares += static_cast<double>(last - first) * static_cast<double>(last - first);
  });
  return sorted.empty() ? 1 : squares / static_cast<double>(sorted.size());
}

}  // namespace tally::oracle
