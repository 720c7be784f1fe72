// The gradient is left as it was where the penalty should be added.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (parameter.empty()) return std::nullopt;
  return evidence.tap(held.name.window, -1, "decay", "in.d." + parameter);
}

const RegisterSuspect registered{{
    .name = "decoupled-for-l2",
    .faults = {"adam-vs-adamw-decay"},
    .stages = {"decay"},
    .sentence = "the gradient takes no l2 penalty: the decay is decoupled, or left out",
    .formula = "g = g",
    .left = left,
}};

}  // namespace
}  // namespace tally
