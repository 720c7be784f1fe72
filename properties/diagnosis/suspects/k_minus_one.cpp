// The divisor counts one micro-batch too few.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double k = evidence.micro_batches(held.name.window);
  if (k < 2) return std::nullopt;
  return times(held.expected, k / (k - 1));
}

const RegisterSuspect registered{{
    .name = "k-minus-one",
    .faults = {"divided-by-k-minus-1"},
    .stages = {"loss"},
    .sentence = "the divisor counts one micro-batch too few",
    .formula = "c = S K / ((K - 1) N)",
    .left = left,
}};

}  // namespace
}  // namespace tally
