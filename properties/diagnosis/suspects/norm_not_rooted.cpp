// The square root is left out.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm" || evidence.c.recipe.clip.kind != "global_norm") return std::nullopt;
  return Values{held.expected.front() * held.expected.front()};
}

const RegisterSuspect registered{{
    .name = "norm-not-rooted",
    .faults = {},
    .stages = {"norm"},
    .sentence = "the norm lacks its square root",
    .formula = "norm = Σ g²",
    .left = left,
}};

}  // namespace
}  // namespace tally
