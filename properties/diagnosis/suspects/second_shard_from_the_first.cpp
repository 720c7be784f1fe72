// The second shard of a parameter takes the gradients of the first.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The parameter is that of the failing check.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  if (parameter.empty() || held.name.tensor != tap_name_of(evidence.check.tap).tensor) return std::nullopt;
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  const double rate = evidence.scalar(held.name.window, "schedule", "learning_rate", 0);
  Values p = held.expected;
  const std::size_t half = p.size() / 2;
  for (std::size_t i = half; i < p.size() && half > 0; ++i) p[i] -= rate * ((*gradient)[i - half] - (*gradient)[i]);
  return p;
}

const RegisterSuspect registered{{
    .name = "second-shard-from-the-first",
    .faults = {"shard-offset-wrong"},
    .stages = {"optimizer"},
    .sentence = "the second shard of one parameter is updated with the gradients of its first",
    .formula = "p_i = p_i - lr g_{i - n/2} for i >= n/2",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally
