// A parameter whose gradient is zero is not updated.
#include <algorithm>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  if (parameter.empty()) return std::nullopt;
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!gradient || std::any_of(gradient->begin(), gradient->end(), [](double g) { return g != 0; }))
    return std::nullopt;
  return evidence.tap(held.name.window, -1, "optimizer", "in." + parameter);
}

const RegisterSuspect registered{{
    .name = "zero-gradient-skips",
    .faults = {"zero-gradient-skipped"},
    .stages = {"optimizer"},
    .sentence = "a parameter whose gradient is zero is taken for unused: neither momentum nor decay moves it",
    .formula = "p = p where g = 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
