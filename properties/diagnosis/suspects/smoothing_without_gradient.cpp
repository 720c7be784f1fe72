// The smoothing term counts in the loss, but has no gradient.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/smoothed_loss.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "d.y") return std::nullopt;
  const auto rows = smoothed_rows(evidence, held.name.window, held.name.micro_batch);
  const auto factor = evidence.tap(held.name.window, held.name.micro_batch, "loss", "in.factor");
  if (!rows || !factor) return std::nullopt;
  Values gradient;
  for (const SmoothedRow& row : *rows) {
    for (const double g : row.main_gradient) gradient.push_back(factor->front() * g);
  }
  return gradient;
}

const RegisterSuspect registered{{
    .name = "smoothing-without-gradient",
    .faults = {"aux-gradient-never-flows"},
    .stages = {"loss"},
    .sentence = "the smoothing term is in the loss, but its gradient never flows",
    .formula = "dy = c (1 - ε) ∂nll/∂y",
    .left = left,
}};

}  // namespace
}  // namespace tally
