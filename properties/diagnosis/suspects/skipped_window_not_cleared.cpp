// A window that overflowed leaves its buffers as they are.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  const int before = held.name.window - 1;
  if (parameter.empty() || held.name.micro_batch != 0 || before < 0) return std::nullopt;
  if (evidence.scalar(before, "overflow_check", "found", 0) == 0) return std::nullopt;
  return evidence.tap(before, evidence.micro_batches(before) - 1, "accumulate", "buffer." + parameter);
}

const RegisterSuspect registered{{
    .name = "skipped-window-not-cleared",
    .faults = {"overflow-not-cleared"},
    .stages = {"accumulate"},
    .sentence = "a window that overflowed does not clear its buffers: the next one adds to infinity",
    .formula = "A_0 = the sum of a skipped window",
    .left = left,
}};

}  // namespace
}  // namespace tally
