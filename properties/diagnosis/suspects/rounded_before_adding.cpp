// Every gradient is rounded to bf16 on its way into the buffer.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (evidence.c.precision.storage != Dtype::fp32) return std::nullopt;
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rounded_to(Dtype::bf16, (*addend)[i]);
  return sum;
}

const RegisterSuspect registered{{
    .name = "rounded-before-adding",
    .faults = {"gradient-rounded-before-adding"},
    .stages = {"accumulate"},
    .sentence = "every gradient is rounded to bf16 before it is added",
    .formula = "A = A + bf16(s_k)",
    .left = left,
}};

}  // namespace
}  // namespace tally
