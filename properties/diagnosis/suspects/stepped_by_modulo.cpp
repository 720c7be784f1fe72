// The step follows the micro-batch's number, by the first K.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty()) return std::nullopt;
  int before = 0;
  for (int w = 0; w < held.name.window; ++w) before += evidence.micro_batches(w);
  for (int k = 0; k + 1 < evidence.micro_batches(held.name.window); ++k) {
    if ((before + k + 1) % evidence.micro_batches(0) != 0) continue;
    return evidence.tap(held.name.window, k, "accumulate", "buffer." + parameter);
  }
  return std::nullopt;
}

const RegisterSuspect registered{{
    .name = "stepped-by-modulo",
    .faults = {"k-by-modulo-while-it-changes"},
    .stages = {"unscale"},
    .sentence = "the step is taken where the micro-batch's number is a multiple of the first K, although K changes",
    .formula = "step where (i + 1) % K_0 = 0",
    .left = left,
}};

}  // namespace
}  // namespace tally
