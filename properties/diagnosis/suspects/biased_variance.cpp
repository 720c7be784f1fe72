// The running variance takes the biased variance of the batch.
#include "properties/diagnosis/suspects/running_update.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto update = running_update(evidence, held);
  if (!update || !held.name.tensor.ends_with("_var")) return std::nullopt;
  return mixed(update->running, 1 - update->momentum, update->batch, update->momentum);
}

const RegisterSuspect registered{{
    .name = "biased-variance",
    .faults = {"biased-running-variance"},
    .stages = {"running_stats"},
    .sentence = "the running variance takes the biased variance of the batch, without n / (n - 1)",
    .formula = "r = (1 - m) r + m v",
    .left = left,
}};

}  // namespace
}  // namespace tally
