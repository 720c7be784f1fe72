#include "properties/diagnosis/suspects/norm_of.hpp"

#include <cmath>

namespace tally {

std::optional<Values> norm_of(const Evidence& evidence, int window, const std::string& stage, const std::string& prefix,
                              const std::vector<std::string>& parameters) {
  double sum = 0;
  for (const std::string& p : parameters) {
    const auto gradient = evidence.tap(window, -1, stage, prefix + p);
    if (!gradient) return std::nullopt;
    for (const double g : *gradient) sum += g * g;
  }
  return Values{std::sqrt(sum)};
}

}  // namespace tally
