// The loss is divided by K, its gradient is not.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "d.y") return std::nullopt;
  return times(held.expected, evidence.micro_batches(held.name.window));
}

const RegisterSuspect registered{{
    .name = "loss-gradient-times-k",
    .faults = {"scale-after-backward"},
    .stages = {"loss"},
    .sentence = "the loss is divided after its gradient was taken: the gradient is K times too large",
    .formula = "dy = K c ∂l/∂y",
    .left = left,
}};

}  // namespace
}  // namespace tally
