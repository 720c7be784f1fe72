#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"
#include "kernels/training_step/step_constants.hpp"

namespace tally::stage {
namespace {

void sgd(Run& run) {
  SgdArguments arguments = sgd_constants(run);
  for (Parameter& parameter : run.parameters) {
    arguments.gradient = parameter.unscaled.as<float>();
    arguments.parameter = parameter.master.data();
    arguments.momentum = parameter.momentum ? parameter.momentum.data() : nullptr;
    arguments.elements = parameter.elements;
    arguments.first = !parameter.momentum_started;
    run.launch("sgd", arguments);
  }
}

void adam(Run& run) {
  AdamArguments arguments = adam_constants(run);
  for (Parameter& parameter : run.parameters) {
    arguments.gradient = parameter.unscaled.as<float>();
    arguments.parameter = parameter.master.data();
    arguments.exp_avg = parameter.exp_avg.data();
    arguments.exp_avg_sq = parameter.exp_avg_sq.data();
    arguments.elements = parameter.elements;
    run.launch("adam", arguments);
  }
}

/// What a fused step reads is tapped where the first of its stages reads it: clip, then decay.
void tap_inputs(Run& run, const Parameter& parameter) {
  const Recipe& recipe = run.c.recipe;
  const bool fused = steps_at_once(run);
  const bool decayed = fused && parameter.decays;
  const bool gradient_read = recipe.clip.kind != "none" || (decayed && recipe.weight_decay.kind == "l2");
  if (!(fused && gradient_read)) run.tap("optimizer", "in.d." + parameter.name, parameter.unscaled);
  if (!decayed) run.tap("optimizer", "in." + parameter.name, parameter.master);
  if (parameter.momentum_started) run.tap("optimizer", "in.momentum." + parameter.name, parameter.momentum);
  if (!parameter.exp_avg) return;
  run.tap("optimizer", "in.exp_avg." + parameter.name, parameter.exp_avg);
  run.tap("optimizer", "in.exp_avg_sq." + parameter.name, parameter.exp_avg_sq);
}

void tap_outputs(Run& run, const Parameter& parameter) {
  run.tap("optimizer", parameter.name, parameter.master);
  if (parameter.momentum) run.tap("optimizer", "momentum." + parameter.name, parameter.momentum);
  if (!parameter.exp_avg) return;
  run.tap("optimizer", "exp_avg." + parameter.name, parameter.exp_avg);
  run.tap("optimizer", "exp_avg_sq." + parameter.name, parameter.exp_avg_sq);
}

}  // namespace

void optimizer(Run& run) {
  run.tap("optimizer", "in.learning_rate", static_cast<float>(run.learning_rate));
  run.tap("optimizer", "in.step", run.step);
  for (const Parameter& parameter : run.parameters) tap_inputs(run, parameter);
  (steps_at_once(run) ? clip_decay_step : run.c.recipe.optimizer.kind == "adam" ? adam : sgd)(run);
  for (Parameter& parameter : run.parameters) {
    parameter.momentum_started = parameter.momentum_started || bool(parameter.momentum);
    tap_outputs(run, parameter);
  }
  run.last_step_window = run.window;
}

}  // namespace tally::stage
