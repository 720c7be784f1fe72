#include "properties/compare/in_order.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tally {

std::vector<TensorCheck> in_order(const Trace& trace, std::vector<TensorCheck> checks) {
  std::unordered_map<std::string, std::size_t> position;
  for (const Tap& tap : trace.taps()) position.emplace(tap.name.text(), position.size());
  std::vector<std::size_t> key(checks.size()), order(checks.size());
  std::size_t last = 0;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const auto found = position.find(checks[i].tap);
    key[i] = last = found == position.end() ? last : found->second;
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  std::vector<TensorCheck> sorted;
  sorted.reserve(checks.size());
  for (const std::size_t i : order) sorted.push_back(std::move(checks[i]));
  return sorted;
}

}  // namespace tally
