// Every layer divides the gradient it passes on.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!layer_at(evidence, held, "d.", "linear", ".x")) return std::nullopt;
  return times(held.expected, 1.0 / evidence.micro_batches(held.name.window));
}

const RegisterSuspect registered{{
    .name = "stage-over-k",
    .faults = {"repeated-stage-scaling"},
    .stages = {"backward"},
    .sentence = "every linear layer divides the gradient that it passes on by K again",
    .formula = "dx = dy W / K",
    .left = left,
}};

}  // namespace
}  // namespace tally
