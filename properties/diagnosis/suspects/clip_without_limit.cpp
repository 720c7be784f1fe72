// The coefficient is not held below 1.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  if (held.name.tensor != "coefficient") return std::nullopt;
  const auto norm = evidence.tap(held.name.window, -1, "clip", "in.norm");
  if (!norm) return std::nullopt;
  return Values{clip.number("max_norm").to_double() / (norm->front() + clip.number("epsilon").to_double())};
}

const RegisterSuspect registered{{
    .name = "clip-without-limit",
    .faults = {"clip-coefficient-not-capped"},
    .stages = {"clip"},
    .sentence = "the clip also makes small gradients larger: its coefficient is not held below 1",
    .formula = "coefficient = max_norm / (norm + eps)",
    .left = left,
}};

}  // namespace
}  // namespace tally
