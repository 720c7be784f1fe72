// A short window is divided by the K of the others.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double own = evidence.micro_batches(held.name.window), configured = evidence.micro_batches(0);
  return times(held.expected, own / configured);
}

const RegisterSuspect registered{{
    .name = "configured-k",
    .faults = {"last-window-wrong-divisor"},
    .stages = {"loss"},
    .sentence = "a short window is divided by the K of the others, not by its own",
    .formula = "c = S r / (K N)",
    .left = left,
}};

}  // namespace
}  // namespace tally
