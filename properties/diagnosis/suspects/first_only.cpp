// Only the first micro-batch reaches the buffer.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty() || held.name.micro_batch == 0) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
}

const RegisterSuspect registered{{
    .name = "first-only",
    .faults = {"microstep-dropped"},
    .stages = {"accumulate"},
    .sentence = "only the first micro-batch reaches the buffer",
    .formula = "A = s_0",
    .left = left,
}};

}  // namespace
}  // namespace tally
