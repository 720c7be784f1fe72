// One micro-batch of one parameter is not added.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The place is that of the failing check: a window, a micro-batch and a parameter.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty() || held.name.text() != evidence.check.tap) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
}

const RegisterSuspect registered{{
    .name = "one-addition-missed",
    .faults = {"one-microbatch-of-one-tensor-dropped"},
    .stages = {"accumulate"},
    .sentence = "one parameter misses one micro-batch of one window",
    .formula = "A = A, once",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally
