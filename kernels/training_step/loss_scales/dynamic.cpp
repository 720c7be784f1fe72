#include "kernels/training_step/kind_steps.hpp"

namespace tally::dynamic_steps {
namespace {

void move(Run& run) {
  const Choice& choice = run.c.recipe.loss_scale;
  run.launch<ScalerArguments>(
      "scaler", {run.scale.as<float>(), run.growth_counter.as<std::int64_t>(), run.found_flag.as<std::uint32_t>(),
                 static_cast<float>(choice.number("growth_factor").to_double()),
                 static_cast<float>(choice.number("backoff_factor").to_double()), choice.integer("growth_interval")});
}

const RegisterLossScaleSteps registered("dynamic", {move});

}  // namespace
}  // namespace tally::dynamic_steps
