// Every micro-batch divides by its own items and nobody divides by K.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double items = evidence.items(held.name.window, held.name.micro_batch);
  return Values{items == 0 ? 0.0 : evidence.scale(held.name.window) / items};
}

const RegisterSuspect registered{{
    .name = "own-items",
    .faults = {"denominator-kwarg-dropped", "denominator-skipped-branch"},
    .stages = {"loss"},
    .sentence = "every micro-batch is divided by its own items alone, and nobody divides by K",
    .formula = "c = S / n_k",
    .left = left,
}};

}  // namespace
}  // namespace tally
