// The buffer's additions round toward zero.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The fp32 number next to the exact sum on the side of zero.
double truncated(double sum) {
  const auto nearest = static_cast<float>(sum);
  const bool over = std::fabs(static_cast<double>(nearest)) > std::fabs(sum);
  return static_cast<double>(over ? std::nextafter(nearest, 0.0f) : nearest);
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = truncated(sum[i] + (*addend)[i]);
  return sum;
}

const RegisterSuspect registered{{
    .name = "truncated-sum",
    .faults = {"truncating-accumulator"},
    .stages = {"accumulate"},
    .sentence = "the buffer's additions round toward zero, so that the error grows with K",
    .formula = "A = A + s_k, rounded toward zero",
    .left = left,
}};

}  // namespace
}  // namespace tally
