// Only the last micro-batch is looked at.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "found") return std::nullopt;
  const int last = evidence.micro_batches(held.name.window) - 1;
  double found = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    for (const double g : evidence.tap(held.name.window, last, "backward", "d." + p).value_or(Values{})) {
      if (!std::isfinite(g)) found = 1;
    }
  }
  return Values{found};
}

const RegisterSuspect registered{{
    .name = "overflow-of-last-micro-batch",
    .faults = {"found-inf-last-microbatch-only"},
    .stages = {"overflow_check"},
    .sentence = "only the last micro-batch is checked for overflow",
    .formula = "found = last s_k is not finite",
    .left = left,
}};

}  // namespace
}  // namespace tally
