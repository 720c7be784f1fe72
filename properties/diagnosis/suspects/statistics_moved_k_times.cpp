// The window's statistics move the running values once for every micro-batch.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/running_update.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto update = running_update(evidence, held);
  if (!update || held.name.micro_batch >= 0) return std::nullopt;
  const auto& [running, batch, m, unbiased] = *update;
  Values moved = running;
  for (int k = 0; k < evidence.micro_batches(held.name.window); ++k) moved = mixed(moved, 1 - m, batch, m * unbiased);
  return moved;
}

const RegisterSuspect registered{{
    .name = "statistics-moved-k-times",
    .faults = {"bn-running-k-updates"},
    .stages = {"running_stats"},
    .sentence = "the window's statistics move the running values once for every micro-batch",
    .formula = "r = (1 - m)^K r + (1 - (1 - m)^K) v",
    .left = left,
}};

}  // namespace
}  // namespace tally
