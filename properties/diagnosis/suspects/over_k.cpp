// The loss is divided by K although N already counts the whole window.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return times(held.expected, 1.0 / evidence.micro_batches(held.name.window));
}

const RegisterSuspect registered{{
    .name = "over-k",
    .faults = {},
    .stages = {"loss"},
    .sentence = "the loss is divided by K although N counts the whole window",
    .formula = "c = S / (K N)",
    .left = left,
}};

}  // namespace
}  // namespace tally
