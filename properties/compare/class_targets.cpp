#include "properties/compare/class_targets.hpp"

#include <algorithm>

#include "oracle/case/kinds.hpp"

namespace tally {

bool are_targets_of(const Choice& loss, const std::vector<double>& targets, std::size_t classes) {
  if (!has_class_targets(loss)) return true;
  const auto ignored = static_cast<double>(loss.integer("ignore_index"));
  return std::ranges::all_of(targets, [&](double target) {
    return target == ignored || (target >= 0 && target < static_cast<double>(classes));
  });
}

bool are_targets_of(const Choice& loss, const Tensor& targets, std::size_t classes) {
  std::vector<double> values(targets.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = targets.value(i);
  return are_targets_of(loss, values, classes);
}

}  // namespace tally
