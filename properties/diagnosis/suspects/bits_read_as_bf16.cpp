// The bits of an fp16 gradient are added as if they were bf16.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

double mistaken(double value) {
  Tensor half(Dtype::fp16, {1}), other(Dtype::bf16, {1});
  half.set(0, value);
  other.set_bits(0, half.bits(0));
  return other.value(0);
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (evidence.c.precision.storage != Dtype::fp16) return std::nullopt;
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += mistaken((*addend)[i]);
  return sum;
}

const RegisterSuspect registered{{
    .name = "bits-read-as-bf16",
    .faults = {"cast-missing-in-add"},
    .stages = {"accumulate"},
    .sentence = "the bits of an fp16 gradient are added as if they were bf16: a cast is missing",
    .formula = "A = A + bf16 of the bits of s_k",
    .left = left,
}};

}  // namespace
}  // namespace tally
