#include "reports/text/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tally {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> nearest_names(std::string_view word, std::vector<std::string> names, std::size_t count) {
  const auto key = [&](const std::string& name) {
    return std::make_tuple(!name.starts_with(word), name.find(word) == std::string::npos, edit_distance(word, name),
                           std::string_view(name));
  };
  std::sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  names.resize(std::min(names.size(), count));
  return names;
}

std::vector<std::string> near_names(std::string_view word, std::vector<std::string> names, std::size_t count) {
  names = nearest_names(word, std::move(names), count);
  std::erase_if(names, [&](const std::string& name) {
    return name.find(word) == std::string::npos && 2 * edit_distance(word, name) >= std::max(word.size(), name.size());
  });
  return names;
}

}  // namespace tally
