// The count of clean windows goes on through an overflow.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "growth_counter") return std::nullopt;
  if (evidence.scalar(held.name.window, "scaler", "in.found", 0) == 0) return std::nullopt;
  return Values{evidence.scalar(held.name.window, "scaler", "in.growth_counter", 0) + 1};
}

const RegisterSuspect registered{{
    .name = "clean-windows-counted-on",
    .faults = {"scaler-counter-kept-on-overflow"},
    .stages = {"scaler"},
    .sentence = "the count of clean windows goes on through an overflow",
    .formula = "count + 1 in a skipped window",
    .left = left,
}};

}  // namespace
}  // namespace tally
