// The buffer is rounded to bf16 after every addition.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = rounded_to(Dtype::bf16, rounded_to(Dtype::fp32, sum[i] + (*addend)[i]));
  }
  return sum;
}

const RegisterSuspect registered{{
    .name = "bf16-buffer",
    .faults = {"bf16-accumulator"},
    .stages = {"accumulate"},
    .sentence = "the sum over micro-batches is rounded to bf16 after every addition",
    .formula = "A = bf16(A + s_k)",
    .left = left,
}};

}  // namespace
}  // namespace tally
