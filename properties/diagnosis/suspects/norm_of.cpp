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

std::optional<Values> recipe_norm_of(const Evidence& evidence, int window, const std::vector<std::string>& parameters) {
  const Choice& clip = evidence.c.recipe.clip;
  if (clip.kind != "global_norm") return std::nullopt;
  const std::string& kind = clip.text("norm");
  double sum = 0;
  for (const std::string& p : parameters) {
    const auto gradient = evidence.tap(window, -1, "norm", "in.d." + p);
    if (!gradient) return std::nullopt;
    for (const double g : *gradient) {
      sum = kind == "inf" ? std::fmax(sum, std::fabs(g)) : sum + (kind == "1" ? std::fabs(g) : g * g);
    }
  }
  return Values{kind == "2" ? std::sqrt(sum) : sum};
}

}  // namespace tally
