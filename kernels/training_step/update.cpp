// The stages around the layers: the parameters cast and the loss's factor fixed before them, and from the summed
// gradients to the updated parameters behind them.

#include <vector>

#include "kernels/ranks/buckets.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/ranks/rank_totals.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/sizes.hpp"

namespace tally::stage {

void cast(Run& run) {
  for (auto* all : {&run.parameters, &run.frozen})
    for (Parameter& parameter : *all) {
      run.tap("cast", "in." + parameter.name, parameter.master);
      run.launch<CastArguments>("cast", {parameter.copy.dtype, parameter.master.data(), parameter.copy.data(),
                                         parameter.elements, parameter.master.dtype});
      run.tap("cast", parameter.name, parameter.copy);
    }
}

// c, by which a micro-batch's loss is multiplied: (divisor.2), scale over the divisor of (divisor.1), in binary64,
// rounded once.
namespace {

double divisor(const Run& run) {
  const auto micro_batches = [&](int window) {
    return static_cast<double>(run.c.windows[static_cast<std::size_t>(window)].size());
  };
  switch (run.c.normalisation) {
    case Normalisation::window_items:
      return run.window_items;
    case Normalisation::mean_of_means:
      return run.busy_ranks * micro_batches(run.window) * run.items(run.micro_batch);
    case Normalisation::mean_of_means_configured:
      return micro_batches(0) * run.items(run.micro_batch);
    case Normalisation::rank_means:
      return run.busy_ranks * run.own_items;
    case Normalisation::sum:
      return 1;
  }
  return 0;
}

const Register<SizeEdges> registered_items{{"items of a window", {0}, "nothing to divide by", "reduce.divide"}};

}  // namespace

void fix_factor(Run& run) {
  const RankDivision ranks = run.options.link == nullptr
                                 ? RankDivision{}
                                 : rank_division(run.c, static_cast<std::size_t>(run.options.link->size()));
  const double by = divisor(run), scale = static_cast<double>(run.window_scale);
  run.factor = by == 0 ? 0.0f : static_cast<float>(ranks.when_unscaling ? scale : ranks.multiple * scale / by);
}

void overflow_check(Run& run) {
  const bool fused = reads_gradients_once(run);
  for (Parameter& parameter : run.parameters) {
    const DeviceTensor& summed = run.tap_summed("overflow_check", parameter);
    if (fused) continue;
    run.launch<OverflowCheckArguments>(
        "overflow_check", {summed.dtype, summed.data(), run.found_flag.as<std::uint32_t>(), parameter.elements});
  }
  if (fused) unscale_check_norm(run);
  run.found = run.found_flag.scalar<std::uint32_t>() != 0;
  run.tap("overflow_check", "found", run.found_flag.data(), Dtype::u8, {});
}

void unscale(Run& run) {
  run.tap("unscale", "in.inverse_scale", run.inverse_scale);
  const bool fused = reads_gradients_once(run);
  if (fused && !checks_overflow(run.c.recipe.loss_scale)) unscale_check_norm(run);  // no overflow_check did
  for (Parameter& parameter : run.parameters) {
    const DeviceTensor& summed = run.tap_summed("unscale", parameter);
    if (!fused) {
      run.launch<UnscaleArguments>("unscale", {summed.dtype, summed.data(), parameter.unscaled.as<float>(),
                                               run.inverse_scale.as<float>(), parameter.elements});
    }
    run.tap("unscale", "d." + parameter.name, parameter.unscaled);
  }
}

}  // namespace tally::stage

namespace tally {

NormKind norm_kind_of(const Run& run) {
  const NormKind whole = norm_kind_of(run.c.recipe.clip);
  const bool squares = (!run.pieces.empty() || run.pipelined()) && rank_word(run.c, "reduce.norm") == "squares";
  return squares && whole == NormKind::two ? NormKind::squares : whole;
}

}  // namespace tally

namespace tally::stage {

void norm(Run& run) {
  std::vector<NormSource> sources;
  for (Parameter& parameter : run.parameters) {
    run.tap("norm", "in.d." + parameter.name, parameter.unscaled);
    sources.push_back({parameter.unscaled.as<float>(), parameter.elements});
  }
  if (!norm_is_fused(run)) {
    run.launch<NormArguments>(
        "norm", {norm_kind_of(run), sources, run.norm_partials.as<float>(), run.gradient_norm.as<float>()});
  }
  if (!run.pieces.empty() || run.pipelined()) {
    run.tap("norm", "part", run.gradient_norm);
    run.gradient_norm.set_scalar(norm_over_ranks(run, run.gradient_norm.scalar<float>()));
  }
  run.tap("norm", "norm", run.gradient_norm);
}

/// A fused step reads its inputs here, and writes none of the gradients that it clips.
void clip(Run& run) {
  const ClipSteps& steps = clip_steps(run.c.recipe.clip);
  const bool by_norm = clips_by_norm(run.c.recipe.clip), fused = steps_at_once(run);
  if (by_norm) run.tap("clip", "in.norm", run.gradient_norm);
  if (by_norm && !fused) {
    steps.coefficient(run);
    run.tap("clip", "coefficient", run.coefficient);
  }
  for (Parameter& parameter : run.parameters) {
    run.tap("clip", "in.d." + parameter.name, parameter.unscaled);
    if (fused) continue;
    steps.clip(run, parameter);
    run.tap("clip", "d." + parameter.name, parameter.unscaled);
  }
}

}  // namespace tally::stage

namespace tally {

DecayArguments decay_constants(const Run& run) {
  const double lambda = run.c.recipe.weight_decay.number("lambda").to_double();
  return {.gradient = nullptr,
          .parameter = nullptr,
          .elements = 0,
          .lambda = static_cast<float>(lambda),
          .factor = static_cast<float>(1 - run.learning_rate * lambda),
          .format = run.c.precision.master};
}

}  // namespace tally

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

void scaler(Run& run) {
  run.tap("scaler", "in.scale", run.scale);
  run.tap("scaler", "in.growth_counter", run.growth_counter);
  run.tap("scaler", "in.found", run.found_flag.data(), Dtype::u8, {});
  loss_scale_steps(run.c.recipe.loss_scale).move(run);
  run.tap("scaler", "scale", run.scale);
  run.tap("scaler", "growth_counter", run.growth_counter);
}

// The learning rate, fixed from the step count when a window starts, and the count itself, which moves with steps
// really taken. Binary64 on the host, as frameworks keep it.

void fix_learning_rate(Run& run) {
  const Choice& schedule = run.c.recipe.learning_rate;
  run.learning_rate = schedule_steps(schedule).rate(schedule, run.step);
}

void schedule(Run& run) {
  run.tap("schedule", "in.step", run.step);
  run.tap("schedule", "in.found", run.found_flag.data(), Dtype::u8, {});
  if (!run.found) ++run.step;
  run.tap("schedule", "step", run.step);
  run.tap("schedule", "learning_rate", static_cast<float>(run.learning_rate));
}

}  // namespace tally::stage
