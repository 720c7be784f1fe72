// Running statistics move once more when activations are computed again.
#include "properties/diagnosis/suspects/running_update.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto update = running_update(evidence, held);
  if (!update) return std::nullopt;
  const auto& [running, batch, m, unbiased] = *update;
  return mixed(mixed(running, 1 - m, batch, m * unbiased), 1 - m, batch, m * unbiased);
}

const RegisterSuspect registered{{
    .name = "statistics-moved-twice",
    .faults = {"bn-double-update-recompute"},
    .stages = {"running_stats"},
    .sentence = "the running statistics move twice, as where the forward pass is run again",
    .formula = "r = (1 - m)² r + m (2 - m) v",
    .left = left,
}};

}  // namespace
}  // namespace tally
