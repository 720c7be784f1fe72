// The epsilon in the coefficient's denominator is left out.
#include <algorithm>
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  if (held.name.tensor != "coefficient") return std::nullopt;
  const auto norm = evidence.tap(held.name.window, -1, "clip", "in.norm");
  if (!norm || std::isnan(norm->front())) return std::nullopt;  // NaN stays NaN, with or without an epsilon
  return Values{std::min(1.0, rounded_to(Dtype::fp32, clip.number("max_norm").to_double()) / norm->front())};
}

const RegisterSuspect registered{{
    .name = "epsilon-left-out",
    .faults = {"clip-epsilon-dropped"},
    .stages = {"clip"},
    .sentence = "the epsilon in the denominator of the clip is left out",
    .formula = "coefficient = max_norm / norm",
    .left = left,
}};

}  // namespace
}  // namespace tally
