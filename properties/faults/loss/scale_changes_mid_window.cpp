// The scaler is updated after every micro-batch, so that a window's gradients carry different scales.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::scale_changes_mid_window_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  const Choice& scale = run.c.recipe.loss_scale;
  if (scale.kind != "dynamic") return;
  const std::int64_t clean = run.growth_counter.scalar<std::int64_t>() + run.micro_batch;
  if (clean >= scale.integer("growth_interval")) {
    run.factor *= static_cast<float>(scale.number("growth_factor").to_double());
  }
}

const RegisterFault registered{{
    .name = "scale-changes-mid-window",
    .stage = "loss",
    .right = "S constant in a window",
    .wrong = "S_k: grown or not by micro-batch k",
    .condition = "growth inside a window",
    .knob = "value",
    .source = "pytorch PR 36601, apex 777",
    .laws = {"scaler_counts_windows"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::scale_changes_mid_window_fault
