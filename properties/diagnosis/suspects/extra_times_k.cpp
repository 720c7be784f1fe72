// Two parts of a framework compensate for accumulation.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return times(held.expected, evidence.micro_batches(held.name.window));
}

const RegisterSuspect registered{{
    .name = "extra-times-k",
    .faults = {"extra-times-k"},
    .stages = {"loss"},
    .sentence = "the loss is multiplied by K once too often",
    .formula = "c = K S / N",
    .left = left,
}};

}  // namespace
}  // namespace tally
