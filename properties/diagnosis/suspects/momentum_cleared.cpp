// The momentum is cleared before every step.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "in.momentum.").empty()) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterSuspect registered{{
    .name = "momentum-cleared",
    .faults = {"momentum-reset-each-step"},
    .stages = {"optimizer"},
    .sentence = "the momentum is cleared before every step",
    .formula = "m = 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
