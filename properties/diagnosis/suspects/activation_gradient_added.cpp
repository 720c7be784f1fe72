// The scratch for activation gradients is added to.
#include <algorithm>

#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "d.", "linear", ".x");
  if (!layer || held.name.micro_batch <= 0) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch - 1, "backward", held.name.tensor);
  if (!before) return std::nullopt;
  Values sum = held.expected;
  for (std::size_t i = 0; i < std::min(sum.size(), before->size()); ++i) sum[i] += (*before)[i];
  return sum;
}

const RegisterSuspect registered{{
    .name = "activation-gradient-added",
    .faults = {"activation-gradient-not-reset"},
    .stages = {"backward"},
    .sentence = "the scratch for activation gradients keeps the micro-batch before: it is added to, not written",
    .formula = "dx_k = dx_{k-1} + dy W",
    .left = left,
}};

}  // namespace
}  // namespace tally
