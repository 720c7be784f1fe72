// Matrices and vectors are clipped by norms of their own.
#include <algorithm>
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

bool is_matrix(const std::string& parameter, const Case& c) { return c.tensors.at(parameter).shape.size() == 2; }

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (clip.kind != "global_norm" || parameter.empty()) return std::nullopt;
  double sum = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    if (is_matrix(p, evidence.c) != is_matrix(parameter, evidence.c)) continue;
    for (const double g : evidence.tap(held.name.window, -1, "clip", "in.d." + p).value_or(Values{})) sum += g * g;
  }
  const auto gradient = evidence.tap(held.name.window, -1, "clip", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  const double norm = std::sqrt(sum) + clip.number("epsilon").to_double();
  return times(*gradient, norm == 0 ? 1.0 : std::min(1.0, clip.number("max_norm").to_double() / norm));
}

const RegisterSuspect registered{{
    .name = "clipped-per-group",
    .faults = {"clip-per-group"},
    .stages = {"clip"},
    .sentence = "matrices and vectors are clipped apart, each by the norm of its own",
    .formula = "one coefficient for each group",
    .left = left,
}};

}  // namespace
}  // namespace tally
