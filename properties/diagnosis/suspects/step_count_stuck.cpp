// The optimizer never counts its steps.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.name.tensor != "in.step") return std::nullopt;
  return Values{0.0};
}

const RegisterSuspect registered{{
    .name = "step-count-stuck",
    .faults = {"bias-correction-stuck"},
    .stages = {"optimizer"},
    .sentence = "the optimizer never counts its steps: the bias correction stays that of the first",
    .formula = "t = 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
