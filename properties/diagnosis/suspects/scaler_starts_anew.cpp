// A run that goes on starts its scaler anew.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.name.tensor != "in.growth_counter" || held.name.window != 0) return std::nullopt;
  return Values{0.0};
}

const RegisterSuspect registered{{
    .name = "scaler-starts-anew",
    .faults = {"scaler-state-not-restored"},
    .stages = {"scaler"},
    .sentence = "a run that goes on from a checkpoint starts the count of its scaler anew",
    .formula = "count of the first window = 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
