#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void scaler(Run& run) {
  run.tap("scaler", "in.scale", run.scale);
  run.tap("scaler", "in.growth_counter", run.growth_counter);
  run.tap("scaler", "in.found", run.found_flag.data(), Dtype::u8, {});
  loss_scale_steps(run.c.recipe.loss_scale).move(run);
  run.tap("scaler", "scale", run.scale);
  run.tap("scaler", "growth_counter", run.growth_counter);
}

}  // namespace tally::stage
