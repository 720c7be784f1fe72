// The smoothing term is added whole to every micro-batch.
#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/smoothed_loss.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "loss") return std::nullopt;
  const auto rows = smoothed_rows(evidence, held.name.window, held.name.micro_batch);
  if (!rows) return std::nullopt;
  Values loss;
  for (const SmoothedRow& row : *rows) loss.push_back(row.main + evidence.micro_batches(held.name.window) * row.spread);
  return loss;
}

const RegisterSuspect registered{{
    .name = "smoothing-times-k",
    .faults = {"aux-loss-not-divided"},
    .stages = {"loss"},
    .sentence = "the smoothing term is added whole to every micro-batch, without the division that the main term gets",
    .formula = "l = main + K aux",
    .left = left,
}};

}  // namespace
}  // namespace tally
