// The loss is not scaled, though the gradient is unscaled.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return times(held.expected, 1 / evidence.scale(held.name.window));
}

const RegisterSuspect registered{{
    .name = "scale-left-out",
    .faults = {"scale-not-applied"},
    .stages = {"loss"},
    .sentence = "the loss is not scaled, but the gradient is unscaled all the same",
    .formula = "c = 1 / N",
    .left = left,
}};

}  // namespace
}  // namespace tally
