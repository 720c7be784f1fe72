#include "properties/compare/in_order.hpp"

#include <algorithm>
#include <numeric>

namespace tally {

std::vector<TensorCheck> in_order(const Trace& trace, std::vector<TensorCheck> checks) {
  std::vector<std::size_t> key(checks.size()), order(checks.size());
  std::size_t last = 0;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const auto name = tap_view_of(checks[i].tap);
    key[i] = last = name ? trace.place_of(*name).value_or(last) : last;
  }
  if (std::ranges::is_sorted(key)) return checks;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  std::vector<TensorCheck> sorted;
  sorted.reserve(checks.size());
  for (const std::size_t i : order) sorted.push_back(std::move(checks[i]));
  return sorted;
}

}  // namespace tally
