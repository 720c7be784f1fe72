// An overflow is never found.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.name.tensor != "found") return std::nullopt;
  return Values{0.0};
}

const RegisterSuspect registered{{
    .name = "overflow-never-found",
    .faults = {"overflow-not-checked"},
    .stages = {"overflow_check"},
    .sentence = "an overflow is never found",
    .formula = "found = 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
