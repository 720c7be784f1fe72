// The loop of one window: what comes before its first micro-batch, the micro-batches, then the step.
#include <optional>

#include "kernels/norm/norm_steps.hpp"
#include "kernels/ranks/buckets.hpp"
#include "kernels/training_step/offload.hpp"
#include "kernels/training_step/ranks/pipeline.hpp"
#include "kernels/training_step/ranks/rank_totals.hpp"
#include "kernels/training_step/ranks/shards.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"

namespace tally::stage {

// Before a window's first micro-batch: empty buffers, no overflow seen, the scale the last window left, its items
// counted; of ranks the first one's running values.

void begin_window(Run& run) {
  for (std::deque<Parameter>* all : {&run.parameters, &run.shards})
    for (Parameter& parameter : *all) {
      if (run.options.accumulate && parameter.buffer) parameter.buffer.zero_on(run.stream);
      if (parameter.compensation) parameter.compensation.zero_on(run.stream);
    }
  run.found = false;
  run.found_flag.zero_on(run.stream);
  if (run.window > 0) {  // the first window's stand since the run was built: no wait for the device
    run.window_scale = run.scale.scalar<float>();
    run.inverse_scale.set_scalar(static_cast<float>(1.0 / static_cast<double>(run.window_scale)));
  }
  count(run);
  take_first_running(run);
  if (run.options.link != nullptr && rank_division(run.c, 1).when_unscaling &&
      run.c.normalisation == Normalisation::window_items) {
    const double by = static_cast<double>(run.window_scale) * run.window_items;
    run.inverse_scale.set_scalar(by == 0 ? 0.0f : static_cast<float>(1.0 / by));
  }
}

void end_window(Run&) {}

// The loop of one window: micro-batches, then the step. With window statistics every micro-batch goes through a layer
// before any goes on (one group); otherwise each micro-batch is a group of its own. A stage of a pipeline goes through its
// own parts in the order of its schedule.
namespace {

void for_each_micro_batch(Run& run, Stage stage) {
  for (run.micro_batch = run.group_begin; run.micro_batch < run.group_end; ++run.micro_batch) stage(run);
  run.micro_batch = -1;
}

/// A micro-batch's gradients into the buffers, and over all ranks where they add up behind each of them.
void add_up(Run& run) {
  const Communicate when = run.options.link == nullptr ? Communicate::window : communicate_of(run.c);
  if (when == Communicate::micro_batch) run.stages.reduce(run);
  if (run.has_micro_batch() || when == Communicate::micro_batch) {
    std::optional<OwnPieces> own;
    if (shards_gradients(run.c)) own.emplace(run);
    run.stages.accumulate(run);
  }
  if (when == Communicate::running_total) run.stages.reduce(run);
}

/// What the layers read, while they read it: in between no rank has it whole.
void gather_parameters(Run& run, bool behind_forward) {
  if (run.options.link == nullptr || !shards_parameters(run.c)) return;
  run.behind_forward = behind_forward;
  for (Parameter& parameter : run.parameters) parameter.copy.poison_on(run.stream);
  run.stream.synchronize();
  run.stages.all_gather(run);
}

/// Statistics that all share of a micro-step in which this rank has no rows: everything else of its passes is left out.
void share_forward(Run& run) {
  for (LayerState& layer : run.layers)
    if (layer.step_statistics) share_statistics(run, layer);
  const int step = run.micro_batch;
  run.group_begin = run.group_end = step;
  run.stages.running_stats(run);
  run.micro_batch = step;
}

void share_backward(Run& run) {
  for (auto layer = run.layers.rbegin(); layer != run.layers.rend(); ++layer)
    if (layer->step_statistics && layer->has_gradient && layer->gives_dx) share_gradient_sums(run, *layer);
}

/// A rank that has fewer micro-batches than another takes part in what all do together at those as well.
void add_up_without_own(Run& run) {
  const bool shares = pools_steps(run.c);
  if (run.options.link == nullptr || (!communicates_each(run.c) && !shares)) return;
  const auto window = static_cast<std::size_t>(run.window);
  const auto steps = static_cast<int>(micro_steps_of(run.c, window));
  for (run.micro_batch = static_cast<int>(run.c.windows[window].size()); run.micro_batch < steps; ++run.micro_batch) {
    gather_parameters(run, false);
    if (shares) share_forward(run);
    gather_parameters(run, true);
    if (shares) share_backward(run);
    add_up(run);
  }
  run.micro_batch = -1;
}

void run_group(Run& run) {
  const Stages& stages = run.stages;
  for_each_micro_batch(run, [](Run& each) { gather_parameters(each, false); });
  stages.forward(run);
  stages.running_stats(run);
  for_each_micro_batch(run, [](Run& each) {
    each.stages.factor(each);
    each.stages.loss(each);
  });
  for_each_micro_batch(run, [](Run& each) { gather_parameters(each, true); });
  stages.backward(run);
  if (run.options.accumulate) for_each_micro_batch(run, add_up);
}

void take_step(Run& run) {
  const Stages& stages = run.stages;
  const Recipe& recipe = run.c.recipe;
  stages.unscale(run);
  if (clips_by_norm(recipe.clip)) stages.norm(run);
  if (clips(recipe.clip)) stages.clip(run);
  if (decays(recipe.weight_decay)) stages.decay(run);
  stages.optimizer(run);
}

}  // namespace

void run_window(Run& run) {
  const Stages& stages = run.stages;
  stages.begin_window(run);
  stages.learning_rate(run);
  {
    std::optional<OwnPieces> own;
    if (shards_parameters(run.c)) own.emplace(run);
    stages.cast(run);
  }
  const int count = static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
  const int at_once = run.lockstep ? count : 1;
  if (run.pipelined()) run_pipeline(run);
  for (run.group_begin = 0; !run.pipelined() && run.group_begin < count; run.group_begin += at_once) {
    run.group_end = run.group_begin + at_once;
    run_group(run);
  }
  add_up_without_own(run);
  const bool together = run.options.link != nullptr, checks = checks_overflow(run.c.recipe.loss_scale);
  if (together && !communicates_each(run.c)) stages.reduce(run);
  if (run.replicas) {
    const OwnPieces own(run);
    stages.reduce(run);
  }
  {
    const OwnPieces own(run);
    StepSide side(run);
    Run& there = side.run();
    if (checks) stages.overflow_check(there);
    if (checks && together) stages.agree(there);
    if (!there.found) take_step(there);
    side.hand_back();
  }
  if (!run.found && together) stages.gather_updated(run);
  if (checks) stages.scaler(run);
  stages.schedule(run);
  stages.end_window(run);
}

}  // namespace tally::stage
