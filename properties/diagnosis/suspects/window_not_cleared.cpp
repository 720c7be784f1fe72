// The buffer keeps the window before.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty() || held.name.micro_batch != 0 || held.name.window == 0) return std::nullopt;
  const int before = held.name.window - 1;
  return evidence.tap(before, evidence.micro_batches(before) - 1, "accumulate", "buffer." + parameter);
}

const RegisterSuspect registered{{
    .name = "window-not-cleared",
    .faults = {"missing-zero-between-windows"},
    .stages = {"accumulate"},
    .sentence = "the buffer is not cleared between windows, so that the last one leaks into the next",
    .formula = "A_0 = the last window's sum",
    .left = left,
}};

}  // namespace
}  // namespace tally
