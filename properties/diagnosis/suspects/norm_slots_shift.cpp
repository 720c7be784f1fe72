// The slots of the norms are off by one.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/norm_of.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  auto slots = parameters_of(evidence.c.model);
  if (slots.size() < 2) return std::nullopt;
  slots[1] = slots[0];
  return recipe_norm_of(evidence, held.name.window, slots);
}

const RegisterSuspect registered{{
    .name = "norm-slots-shift",
    .faults = {"multi-tensor-norm-offset"},
    .stages = {"norm"},
    .sentence = "the slots of the parameters' norms are off by one: the first counts twice, the second not at all",
    .formula = "norm² = Σ |g_p|² + |g_0|² - |g_1|²",
    .left = left,
}};

}  // namespace
}  // namespace tally
