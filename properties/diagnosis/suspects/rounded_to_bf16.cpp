// The right value, stored in bf16 in between.
#include "properties/diagnosis/suspect.hpp"

namespace tally::rounded_to_bf16_suspect {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.dtype != Dtype::fp32) return std::nullopt;
  Values rounded = held.expected;
  for (double& v : rounded) v = rounded_to(Dtype::bf16, v);
  return rounded;
}

const RegisterSuspect registered{{
    .name = "rounded-to-bf16",
    .faults = {},
    .stages = {},
    .sentence = "the right value went through bf16 on its way",
    .formula = "got = bf16(expected)",
    .remedy = "keep the value in fp32: something casts it to bf16 on its way",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally::rounded_to_bf16_suspect
