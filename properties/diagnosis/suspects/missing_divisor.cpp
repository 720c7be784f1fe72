// Nobody divides by the window's items.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return Values{evidence.scale(held.name.window)};
}

const RegisterSuspect registered{{
    .name = "missing-divisor",
    .faults = {"sum-not-mean"},
    .stages = {"loss"},
    .sentence = "nobody divides: the gradient is a sum over the items, not their mean",
    .formula = "c = S",
    .left = left,
}};

}  // namespace
}  // namespace tally
