// The optimizer never counts its steps.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// At every window what the first one must read.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.step" || held.name.window == 0) return std::nullopt;
  for (const HeldTensor& first : evidence.held) {
    if (first.name.window == 0 && first.name.tensor == "in.step") return first.expected;
  }
  return std::nullopt;
}

const RegisterSuspect registered{{
    .name = "step-count-stuck",
    .faults = {"bias-correction-stuck"},
    .stages = {"optimizer"},
    .sentence = "the optimizer never counts its steps: the bias correction stays that of the first",
    .formula = "t = t of the first window",
    .left = left,
}};

}  // namespace
}  // namespace tally
