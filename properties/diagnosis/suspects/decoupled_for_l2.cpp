// The parameter shrinks where the penalty should be added to the gradient.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, -1, "decay", "in." + parameter);
  if (evidence.tap(held.name.window, -1, "optimizer", "in." + parameter) == before) return std::nullopt;
  return evidence.tap(held.name.window, -1, "decay", "in.d." + parameter);
}

const RegisterSuspect registered{{
    .name = "decoupled-for-l2",
    .faults = {"adam-vs-adamw-decay"},
    .stages = {"decay"},
    .sentence = "the gradient takes no l2 penalty, the parameter shrinks instead: the decay is decoupled",
    .formula = "g = g, p (1 - lr λ)",
    .left = left,
}};

}  // namespace
}  // namespace tally
