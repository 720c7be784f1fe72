#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void scaler(Run& run) {
  const Choice& choice = run.c.recipe.loss_scale;
  run.tap("scaler", "in.scale", run.scale);
  run.tap("scaler", "in.growth_counter", run.growth_counter);
  run.tap("scaler", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.launch<ScalerArguments>(
      "scaler", {run.scale.as<float>(), run.growth_counter.as<std::int64_t>(), run.found_flag.as<std::uint32_t>(),
                 static_cast<float>(choice.number("growth_factor").to_double()),
                 static_cast<float>(choice.number("backoff_factor").to_double()), choice.integer("growth_interval")});
  run.tap("scaler", "scale", run.scale);
  run.tap("scaler", "growth_counter", run.growth_counter);
}

}  // namespace tally::stage
