// The squares of the norm are formed and added in fp16.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm" || evidence.c.recipe.clip.text("norm") != "2") return std::nullopt;
  double sum = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    const auto gradient = evidence.tap(held.name.window, -1, "norm", "in.d." + p);
    if (!gradient) return std::nullopt;
    for (const double g : *gradient) sum = rounded_to(Dtype::fp16, sum + rounded_to(Dtype::fp16, g * g));
  }
  return Values{std::sqrt(sum)};
}

const RegisterSuspect registered{{
    .name = "fp16-norm",
    .faults = {"norm-in-half"},
    .stages = {"norm"},
    .sentence = "the squares of the norm are formed and added in fp16",
    .formula = "norm = √ Σ fp16(g²), rounded to fp16 after every term",
    .left = left,
}};

}  // namespace
}  // namespace tally
