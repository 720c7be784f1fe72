#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"
#include "kernels/training_step/step_constants.hpp"
#include "oracle/case/kinds.hpp"

namespace tally::stage {

/// A fused step reads its inputs here, but for a gradient that it has read to clip it, and writes neither.
void decay(Run& run) {
  const Recipe& recipe = run.c.recipe;
  const bool into_gradient = decays_gradient(recipe.weight_decay), fused = steps_at_once(run);
  DecayArguments arguments = decay_constants(run);
  for (Parameter& parameter : run.parameters) {
    if (!parameter.decays) continue;
    if (into_gradient && !(fused && clips(recipe.clip))) run.tap("decay", "in.d." + parameter.name, parameter.unscaled);
    run.tap("decay", "in." + parameter.name, parameter.master);
    if (fused) continue;
    arguments.gradient = parameter.unscaled.as<float>();
    arguments.parameter = parameter.master.data();
    arguments.elements = parameter.elements;
    run.launch(decay_steps(recipe.weight_decay).operation, arguments);
    if (into_gradient)
      run.tap("decay", "d." + parameter.name, parameter.unscaled);
    else
      run.tap("decay", parameter.name, parameter.master);
  }
}

}  // namespace tally::stage
