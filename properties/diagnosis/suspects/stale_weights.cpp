// The copy of the weights is that of the first window.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  if (parameter.empty() || held.name.window == 0) return std::nullopt;
  return evidence.tap(0, -1, "cast", parameter);
}

const RegisterSuspect registered{{
    .name = "stale-weights",
    .faults = {"stale-weight-cast"},
    .stages = {"cast"},
    .sentence = "the copy of the weights that the layers read is never refreshed",
    .formula = "w = the first window's copy",
    .left = left,
}};

}  // namespace
}  // namespace tally
