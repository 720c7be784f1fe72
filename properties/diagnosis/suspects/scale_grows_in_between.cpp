// The scaler is updated after every micro-batch.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& scale = evidence.c.recipe.loss_scale;
  if (held.name.tensor != "in.factor" || scale.kind != "dynamic") return std::nullopt;
  const double clean = evidence.scalar(held.name.window, "scaler", "in.growth_counter", 0) + held.name.micro_batch;
  if (clean < static_cast<double>(scale.integer("growth_interval"))) return std::nullopt;
  return times(held.expected, scale.number("growth_factor").to_double());
}

const RegisterSuspect registered{{
    .name = "scale-grows-in-between",
    .faults = {"scale-changes-mid-window"},
    .stages = {"loss"},
    .sentence = "the loss scale grows inside a window, so that its micro-batches carry different scales",
    .formula = "c = S_k / N",
    .left = left,
}};

}  // namespace
}  // namespace tally
