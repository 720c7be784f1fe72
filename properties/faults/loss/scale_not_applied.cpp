// The loss is not scaled, but the gradient is unscaled.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::scale_not_applied_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  run.factor /= run.window_scale;
}

const RegisterFault registered{{
    .name = "scale-not-applied",
    .stage = "loss",
    .right = "c = scale / N",
    .wrong = "c = 1 / N, unscaled all the same",
    .condition = "a loss scale other than 1",
    .knob = "value",
    .source = "Megatron-LM 0b14cc27",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::scale_not_applied_fault
