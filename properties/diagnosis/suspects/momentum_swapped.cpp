// Old and new running statistics are weighed the wrong way round.
#include "properties/diagnosis/suspects/running_update.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto update = running_update(evidence, held);
  if (!update) return std::nullopt;
  const auto& [running, batch, m, unbiased] = *update;
  return mixed(running, m, batch, (1 - m) * unbiased);
}

const RegisterSuspect registered{{
    .name = "momentum-swapped",
    .faults = {"bn-momentum-swapped"},
    .stages = {"running_stats"},
    .sentence = "the running statistics weigh old and new the wrong way round",
    .formula = "r = m r + (1 - m) v",
    .left = left,
}};

}  // namespace
}  // namespace tally
