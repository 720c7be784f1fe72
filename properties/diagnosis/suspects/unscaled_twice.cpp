// The gradient is divided by the loss scale twice.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "d.").empty()) return std::nullopt;
  return times(held.expected, 1 / evidence.scale(held.name.window));
}

const RegisterSuspect registered{{
    .name = "unscaled-twice",
    .faults = {"double-unscale"},
    .stages = {"unscale"},
    .sentence = "the gradient is divided by the loss scale twice",
    .formula = "g = A / S²",
    .left = left,
}};

}  // namespace
}  // namespace tally
