#include <algorithm>
#include <numeric>

#include "reports/statistics/paired.hpp"

namespace tally {

std::vector<double> holm(const std::vector<double>& chances) {
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return chances[a] < chances[b]; });
  std::vector<double> corrected(chances.size());
  double so_far = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    so_far = std::max(so_far, std::min(1.0, static_cast<double>(order.size() - i) * chances[order[i]]));
    corrected[order[i]] = so_far;
  }
  return corrected;
}

}  // namespace tally
