// Every micro-batch of the last window takes a step.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty() || held.name.window + 1 != static_cast<int>(evidence.c.windows.size())) return std::nullopt;
  return evidence.tap(held.name.window, 0, "accumulate", "buffer." + parameter);
}

const RegisterSuspect registered{{
    .name = "stepped-at-the-end-of-data",
    .faults = {"forced-step-at-the-end"},
    .stages = {"unscale"},
    .sentence = "at the end of the data every micro-batch of the last window forces a step",
    .formula = "step after each s_k of the last window",
    .left = left,
}};

}  // namespace
}  // namespace tally
