// The column sum of a bias gradient is kept in fp16.
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
  Values sum(held.expected.size(), 0.0);
  for (std::size_t i = 0; i < dy->size(); ++i) {
    double& column = sum[i % sum.size()];
    column = rounded_to(Dtype::fp16, rounded_to(Dtype::fp32, column + (*dy)[i]));
  }
  return sum;
}

const RegisterSuspect registered{{
    .name = "fp16-bias-sum",
    .faults = {"half-accumulator"},
    .stages = {"backward"},
    .sentence = "the column sum of the bias gradient is kept in fp16",
    .formula = "db = Σ rounded to fp16 after every row",
    .left = left,
}};

}  // namespace
}  // namespace tally
