// What the first parameter holds is not seen.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "found") return std::nullopt;
  double found = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    if (p == parameters_of(evidence.c.model).front()) continue;
    for (const double g : evidence.tap(held.name.window, -1, "overflow_check", "in.buffer." + p).value_or(Values{})) {
      if (!std::isfinite(g)) found = 1;
    }
  }
  return Values{found};
}

const RegisterSuspect registered{{
    .name = "overflow-flag-cleared-late",
    .faults = {"overflow-flag-cleared-late"},
    .stages = {"overflow_check"},
    .sentence = "the flag is cleared after the first parameter was checked: an overflow there is not seen",
    .formula = "found = any other parameter is not finite",
    .left = left,
}};

}  // namespace
}  // namespace tally
