#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/kinds.hpp"

namespace tally::stage {
namespace {

/// What a fused step reads is tapped where the first of its stages reads it: clip, then decay.
void tap_update_inputs(Run& run, const Parameter& parameter) {
  const Recipe& recipe = run.c.recipe;
  const bool fused = steps_at_once(run);
  const bool decayed = fused && parameter.decays;
  const bool gradient_read = clips(recipe.clip) || (decayed && decays_gradient(recipe.weight_decay));
  if (!(fused && gradient_read)) run.tap("optimizer", "in.d." + parameter.name, parameter.unscaled);
  if (!decayed) run.tap("optimizer", "in." + parameter.name, parameter.master);
  for (const KeptState& kept : parameter.state)
    if (kept.started) run.tap("optimizer", "in." + kept.of->name + "." + parameter.name, kept.tensor);
}

void tap_update_outputs(Run& run, const Parameter& parameter) {
  run.tap("optimizer", parameter.name, parameter.master);
  for (const KeptState& kept : parameter.state) run.tap("optimizer", kept.of->name + "." + parameter.name, kept.tensor);
}

}  // namespace

void optimizer(Run& run) {
  run.tap("optimizer", "in.learning_rate", static_cast<float>(run.learning_rate));
  run.tap("optimizer", "in.step", run.step);
  for (const Parameter& parameter : run.parameters) tap_update_inputs(run, parameter);
  (steps_at_once(run) ? clip_decay_step : optimizer_steps(run.c.recipe.optimizer).step)(run);
  for (Parameter& parameter : run.parameters) {
    for (KeptState& kept : parameter.state) kept.started = true;
    tap_update_outputs(run, parameter);
  }
  run.last_step_window = run.window;
}

}  // namespace tally::stage
