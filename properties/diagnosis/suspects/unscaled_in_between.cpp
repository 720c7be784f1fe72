// The buffer is unscaled while it is being filled.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "in.buffer.").empty() || held.name.micro_batch != 1) return std::nullopt;
  return times(held.expected, 1 / evidence.scale(held.name.window));
}

const RegisterSuspect registered{{
    .name = "unscaled-in-between",
    .faults = {"unscale-mid-window"},
    .stages = {"accumulate"},
    .sentence = "the buffer is unscaled after the first micro-batch and goes on being filled with scaled gradients",
    .formula = "A = s_0 / S + Σ_{k>0} s_k",
    .left = left,
}};

}  // namespace
}  // namespace tally
