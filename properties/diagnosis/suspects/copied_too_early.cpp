// One parameter's gradient is copied before the last addition.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The parameter is that of the failing check.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (parameter.empty() || held.name.tensor != tap_name_of(evidence.check.tap).tensor) return std::nullopt;
  const int last = evidence.micro_batches(held.name.window) - 1;
  const auto early = evidence.tap(held.name.window, last, "accumulate", "in.buffer." + parameter);
  if (!early) return std::nullopt;
  return times(*early, 1 / evidence.scale(held.name.window));
}

const RegisterSuspect registered{{
    .name = "copied-too-early",
    .faults = {"master-gradient-copied-too-early"},
    .stages = {"unscale"},
    .sentence = "one parameter's gradient is copied before the last micro-batch has been added",
    .formula = "g = A_{K-1} / S for one parameter",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally
