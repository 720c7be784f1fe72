// Only what is too large is clamped.
#include <algorithm>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (evidence.c.recipe.clip.kind != "value" || parameter.empty()) return std::nullopt;
  auto gradient = evidence.tap(held.name.window, -1, "clip", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  for (double& g : *gradient) g = std::min(g, evidence.c.recipe.clip.number("max_value").to_double());
  return gradient;
}

const RegisterSuspect registered{{
    .name = "clamped-on-one-side",
    .faults = {"value-clip-one-sided"},
    .stages = {"clip"},
    .sentence = "the clip by value clamps what is too large, and lets pass what is too small",
    .formula = "g = min(g, c)",
    .left = left,
}};

}  // namespace
}  // namespace tally
