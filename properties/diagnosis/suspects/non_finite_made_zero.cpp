// What is not finite becomes zero when it is clipped.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "d.").empty()) return std::nullopt;
  Values clipped = held.expected;
  for (double& g : clipped) g = std::isfinite(g) ? g : 0;
  return clipped;
}

const RegisterSuspect registered{{
    .name = "non-finite-made-zero",
    .faults = {"clip-hides-non-finite"},
    .stages = {"clip"},
    .sentence = "what is not finite becomes zero when it is clipped, and nobody is told",
    .formula = "g = 0 where it is not finite",
    .left = left,
}};

}  // namespace
}  // namespace tally
