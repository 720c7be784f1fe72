#include "properties/faults/planted_window.hpp"

namespace tally {
namespace {

void run_micro_batch(Run& run, int k) {
  run.group_begin = k;
  run.group_end = k + 1;
  run.stages.forward(run);
  run.stages.running_stats(run);
  run.micro_batch = k;
  run.stages.factor(run);
  run.stages.loss(run);
  run.micro_batch = -1;
  run.stages.backward(run);
  run.micro_batch = k;
  run.stages.accumulate(run);
  run.micro_batch = -1;
}

void take_step(Run& run) {
  const Recipe& recipe = run.c.recipe;
  const bool dynamic = recipe.loss_scale.kind == "dynamic";
  if (dynamic) run.stages.overflow_check(run);
  if (!run.found) {
    run.stages.unscale(run);
    if (recipe.clip.kind == "global_norm") run.stages.norm(run);
    if (recipe.clip.kind != "none") run.stages.clip(run);
    if (recipe.weight_decay.kind != "none") run.stages.decay(run);
    run.stages.optimizer(run);
  }
  if (dynamic) run.stages.scaler(run);
  run.stages.schedule(run);
  for (Parameter& parameter : run.parameters) parameter.buffer.zero();
}

}  // namespace

void run_window_stepping(Run& run, StepsAfter steps_after) {
  if (run.lockstep || !run.options.accumulate) return stage::run_window(run);
  if (run.window == 0) {
    for (Parameter& parameter : run.parameters) parameter.buffer.zero();
  }
  run.stages.learning_rate(run);
  run.stages.cast(run);
  run.found = false;
  run.found_flag.zero();
  run.window_scale = run.scale.scalar<float>();
  run.inverse_scale.set_scalar(static_cast<float>(1.0 / static_cast<double>(run.window_scale)));
  run.window_items = 0;
  const int count = micro_batches(run);
  for (int k = 0; k < count; ++k) run.window_items += run.items(k);
  for (int k = 0; k < count; ++k) {
    run_micro_batch(run, k);
    if (steps_after(run, k)) take_step(run);
  }
  run.stages.end_window(run);
}

}  // namespace tally
