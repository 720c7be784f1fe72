// The right value, stored in fp16 in between.
#include "properties/diagnosis/suspect.hpp"

namespace tally::rounded_to_fp16_suspect {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.dtype != Dtype::fp32) return std::nullopt;
  Values rounded = held.expected;
  for (double& v : rounded) v = rounded_to(Dtype::fp16, v);
  return rounded;
}

const RegisterSuspect registered{{
    .name = "rounded-to-fp16",
    .faults = {},
    .stages = {},
    .sentence = "the right value went through fp16 on its way",
    .formula = "got = fp16(expected)",
    .remedy = "keep the value in fp32: something casts it to fp16 on its way",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally::rounded_to_fp16_suspect
