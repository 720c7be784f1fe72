// The column sum runs from the last row to the first.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "d.", "linear", ".bias");
  if (!layer) return std::nullopt;
  const std::string label = label_of(evidence.c.model, *layer);
  const auto dy = evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
  if (!dy) return std::nullopt;
  Values sum(held.expected.size(), 0.0);
  for (std::size_t i = dy->size(); i-- > 0;) {
    double& column = sum[i % sum.size()];
    column = rounded_to(Dtype::fp32, column + (*dy)[i]);
  }
  return sum;
}

const RegisterSuspect registered{{
    .name = "rows-added-backwards",
    .faults = {"bias-gradient-reversed"},
    .stages = {"backward"},
    .sentence = "the bias gradient adds its rows from the last to the first: as accurate, but not the order claimed",
    .formula = "db = ((dy_n + dy_{n-1}) + ...) + dy_1",
    .left = left,
}};

}  // namespace
}  // namespace tally
