// The denominator counts one item more for every row.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double items = evidence.items(held.name.window);
  return times(held.expected, items / (items + static_cast<double>(evidence.rows(held.name.window))));
}

const RegisterSuspect registered{{
    .name = "positions-counted-too",
    .faults = {"denominator-unshifted-labels"},
    .stages = {"loss"},
    .sentence = "the denominator counts one item too many in every row, such as a first position that nothing predicts",
    .formula = "c = S / (N + rows)",
    .left = left,
}};

}  // namespace
}  // namespace tally
