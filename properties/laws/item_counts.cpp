#include "properties/laws/item_counts.hpp"

namespace tally {

std::vector<double> items_of(const Case& c, std::size_t window) {
  std::vector<double> items;
  for (std::size_t k = 0; k < c.windows[window].size(); ++k) {
    double sum = 0;
    for (std::int64_t i = 0; i < c.windows[window][k]; ++i)
      sum += item_weight(c, first_row(c, window, k) + i).to_double();
    items.push_back(sum);
  }
  return items;
}

bool has_equal_items(const Case& c) {
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::vector<double> items = items_of(c, w);
    if (items != std::vector<double>(items.size(), items.front())) return false;
  }
  return true;
}

}  // namespace tally
