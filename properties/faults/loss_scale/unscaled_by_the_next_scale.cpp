// The scaler is updated before the gradients are unscaled: a window that makes the scale grow divides by the new one.
#include "properties/faults/seeded.hpp"

namespace tally::unscaled_by_the_next_scale_fault {
namespace {

void unscale(Run& run) {
  const Choice& scale = run.c.recipe.loss_scale;
  const bool dynamic = scale.kind == "dynamic";
  const std::int64_t clean = dynamic ? run.growth_counter.scalar<std::int64_t>() + 1 : 0;
  if (dynamic && clean >= scale.integer("growth_interval")) {
    const double next = scale.number("growth_factor").to_double() * static_cast<double>(run.window_scale);
    run.inverse_scale.set_scalar(blend(run.inverse_scale.scalar<float>(), static_cast<float>(1 / next)));
  }
  stage::unscale(run);
}

const RegisterFault registered{{
    .name = "unscaled-by-the-next-scale",
    .stage = "unscale",
    .right = "A / S of this window",
    .wrong = "A / S of the next",
    .condition = "growth at this window",
    .knob = "value",
    .source = "apex 237, 777",
    .laws = {"unscaled_by_the_windows_scale", "scaler_counts_windows"},
    .stages = replaced<&Stages::unscale, unscale>,
}};

}  // namespace
}  // namespace tally::unscaled_by_the_next_scale_fault
