// A run that goes on counts its steps from zero.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.step") return std::nullopt;
  double earlier = 0;
  for (const HeldTensor& each : evidence.held) {
    if (each.name.window == 0 && each.name.tensor == "in.step") earlier = each.expected.front();
  }
  return earlier == 0 ? std::nullopt : std::optional(Values{held.expected.front() - earlier});
}

const RegisterSuspect registered{{
    .name = "step-not-restored",
    .faults = {"step-not-restored"},
    .stages = {"optimizer"},
    .sentence = "a run that goes on from a checkpoint counts its steps from zero",
    .formula = "t = t - t of the checkpoint",
    .left = left,
}};

}  // namespace
}  // namespace tally
