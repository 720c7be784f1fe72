// Suspects of statistics that ranks share of a micro-step.
#include "properties/diagnosis/suspect.hpp"

namespace tally::micro_steps_suspect {
namespace {

// Backward takes its own sums for those of all ranks.
namespace own_sums {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string& tensor = held.name.tensor;
  if (!tensor.ends_with(".sum_dy") && !tensor.ends_with(".sum_dy_h")) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, held.name.stage, "in." + tensor);
}

const RegisterSuspect registered{{
    .name = "synchronised-backward-stays-local",
    .faults = {"synchronised-backward-stays-local"},
    .stages = {"sync_statistics"},
    .sentence = "synchronised BatchNorm's backward takes the sums of a rank's own rows for those of all",
    .formula = "Σ dy, Σ dy h over the rank's rows",
    .remedy = "sum BatchNorm's two backward sums over ranks",
    .left = left,
}};

}  // namespace own_sums

// Every rank's own numbers are those of all.
namespace own_statistics {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string& tensor = held.name.tensor;
  if (!tensor.ends_with(".mean") && !tensor.ends_with(".var")) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, held.name.stage, "in." + tensor);
}

const RegisterSuspect registered{{
    .name = "statistics-stay-local",
    .faults = {},
    .stages = {"sync_statistics"},
    .sentence = "a rank takes the mean and variance of its own rows for those of all",
    .formula = "mean and var over the rank's rows",
    .remedy = "take the statistics of all ranks: `torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)`",
    .left = left,
}};

}  // namespace own_statistics

}  // namespace
}  // namespace tally::micro_steps_suspect
