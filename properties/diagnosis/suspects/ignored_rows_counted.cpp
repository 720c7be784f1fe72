// Ignored rows are counted in the denominator.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return Values{evidence.scale(held.name.window) / static_cast<double>(evidence.rows(held.name.window))};
}

const RegisterSuspect registered{{
    .name = "ignored-rows-counted",
    .faults = {"denominator-counts-ignored"},
    .stages = {"loss"},
    .sentence = "rows that are ignored are counted in the denominator",
    .formula = "c = S / rows",
    .left = left,
}};

}  // namespace
}  // namespace tally
