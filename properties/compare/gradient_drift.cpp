#include "properties/compare/gradient_drift.hpp"

#include <cmath>

namespace tally {

std::optional<CapturedDrift> first_gradient_drift(const std::vector<TensorCheck>& checks) {
  double expected = 0, error = 0, bound = 0;
  for (const TensorCheck& check : checks) {
    if (check.lens != "end_to_end" || !check.tap.starts_with("w0/unscale/d.")) continue;
    expected += check.norm_expected * check.norm_expected;
    error += check.norm_error * check.norm_error;
    bound += check.norm_bound * check.norm_bound;
  }
  if (!(expected > 0)) return std::nullopt;
  return CapturedDrift{std::sqrt(error / expected), std::sqrt(bound / expected)};
}

}  // namespace tally
