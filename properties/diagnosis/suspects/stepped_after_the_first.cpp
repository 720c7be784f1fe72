// The step is taken after the first micro-batch of a window.
#include <algorithm>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// Whether a buffer goes on into the next window: no step was taken at the end.
bool carries_over(const Evidence& evidence, const std::string& parameter) {
  for (int w = 1; w < static_cast<int>(evidence.c.windows.size()); ++w) {
    const auto buffer = evidence.tap(w, 0, "accumulate", "in.buffer." + parameter).value_or(Values{});
    if (std::any_of(buffer.begin(), buffer.end(), [](double v) { return v != 0; })) return true;
  }
  return false;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty() || !carries_over(evidence, parameter)) return std::nullopt;
  return evidence.tap(held.name.window, 0, "accumulate", "buffer." + parameter);
}

const RegisterSuspect registered{{
    .name = "stepped-after-the-first",
    .faults = {"boundary-off-by-one"},
    .stages = {"unscale"},
    .sentence = "the step is taken after the first micro-batch of a window, and the rest goes on into the next",
    .formula = "step where i % K = 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
