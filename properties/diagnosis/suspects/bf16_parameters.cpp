// The optimizer updates bf16 parameters.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "").empty() || held.dtype != Dtype::fp32) return std::nullopt;
  Values rounded = held.expected;
  for (double& p : rounded) p = rounded_to(Dtype::bf16, p);
  return rounded;
}

const RegisterSuspect registered{{
    .name = "bf16-parameters",
    .faults = {"update-lost-in-bf16"},
    .stages = {"optimizer"},
    .sentence = "the optimizer updates bf16 parameters: what is below half a unit of their last place is lost",
    .formula = "p = bf16(p - lr v)",
    .left = left,
}};

}  // namespace
}  // namespace tally
