// The column sum misses the last row.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// dy of the layer whose bias gradient this is, row-major; nullopt for any other tensor.
std::optional<Values> rows_of_dy(const Evidence& evidence, const HeldTensor& held) {
  const std::string bias = parameter_in(evidence, held, "d.");
  if (!bias.ends_with(".bias")) return std::nullopt;
  const std::string label = bias.substr(0, bias.size() - 5);
  return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto dy = rows_of_dy(evidence, held);
  if (!dy) return std::nullopt;
  Values sum = held.expected;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] -= (*dy)[dy->size() - sum.size() + i];
  return sum;
}

const RegisterSuspect registered{{
    .name = "last-row-dropped",
    .faults = {"tail-row-dropped"},
    .stages = {"backward"},
    .sentence = "the column sum misses the last row of every micro-batch",
    .formula = "db = Σ over all rows but the last",
    .left = left,
}};

}  // namespace
}  // namespace tally
