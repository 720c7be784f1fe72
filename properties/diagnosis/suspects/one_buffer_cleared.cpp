// One buffer starts anew with every micro-batch, the others add.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The buffer is that of the failing check.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "in.buffer.").empty() || held.name.micro_batch <= 0) return std::nullopt;
  if (held.name.tensor != tap_name_of(evidence.check.tap).tensor) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterSuspect registered{{
    .name = "one-buffer-cleared",
    .faults = {"boundary-reset-one-tensor"},
    .stages = {"accumulate"},
    .sentence = "one parameter starts its buffer anew with every micro-batch, while the others add",
    .formula = "A = s_k for one parameter",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally
