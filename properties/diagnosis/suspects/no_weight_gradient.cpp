// The weights of linear layers get no gradient.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!layer_at(evidence, held, "d.", "linear", ".weight")) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterSuspect registered{{
    .name = "no-weight-gradient",
    .faults = {"cast-cache-without-gradient"},
    .stages = {"backward"},
    .sentence =
        "the weights of linear layers get no gradient, as where a cached copy of them was made without recording",
    .formula = "dW = 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
