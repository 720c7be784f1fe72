// The optimizer runs in a window that overflowed, on a gradient that is not finite.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  if (parameter.empty() || evidence.scalar(held.name.window, "overflow_check", "found", 0) == 0) return std::nullopt;
  auto p = evidence.tap(held.name.window, -1, "optimizer", "in." + parameter);
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!p || !gradient) return std::nullopt;
  const double rate = evidence.scalar(held.name.window, "optimizer", "in.learning_rate", 0);
  for (std::size_t i = 0; i < p->size(); ++i) (*p)[i] -= rate * (*gradient)[i];
  return p;
}

const RegisterSuspect registered{{
    .name = "stepped-on-overflow",
    .faults = {"state-advances-on-skip"},
    .stages = {"optimizer"},
    .sentence = "the optimizer runs in a window that overflowed, on a gradient that is not finite",
    .formula = "p = p - lr g, where nothing should move",
    .left = left,
}};

}  // namespace
}  // namespace tally
