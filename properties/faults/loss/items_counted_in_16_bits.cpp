// The count of the window's items is kept in bf16, whose whole numbers end at 256.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

double in_bf16(double count) {
  Tensor kept(Dtype::bf16, {});
  kept.set(0, count);
  return kept.value(0);
}

void factor(Run& run) {
  stage::fix_factor(run);
  const double counted = in_bf16(run.window_items);
  if (counted > 0 && run.c.normalisation == Normalisation::window_items)
    run.factor = static_cast<float>(static_cast<double>(run.window_scale) / counted);
}

const RegisterFault registered{{
    .name = "items-counted-in-16-bits",
    .stage = "loss",
    .right = "N in i64",
    .wrong = "N in bf16",
    .condition = "more than 256 items in a window",
    .knob = "value",
    .source = "source mutation",
    .laws = {"every_look_up_keeps_its_bound", "every_attention_keeps_its_bound"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally
