#include "kernels/training_step/multi_tensor.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "kernels/losses/loss_steps.hpp"
#include "kernels/norm/norm_steps.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/run/run.hpp"
#include "kernels/training_step/stages.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/case/contract.hpp"

namespace tally {
namespace {

constexpr const char *read_once = "unscale_check_norm", *step_once = "clip_decay_step";

std::vector<SteppedTensor> stepped_tensors(Run& run) {
  std::vector<SteppedTensor> tensors;
  for (Parameter& parameter : run.parameters) {
    const auto kept = [&](std::size_t i) -> void* {
      return i < parameter.state.size() ? parameter.state[i].tensor.data() : nullptr;
    };
    tensors.push_back({.gradient = parameter.unscaled.as<float>(),
                       .parameter = parameter.master.data(),
                       .first = kept(0),
                       .second = kept(1),
                       .elements = parameter.elements,
                       .decays = parameter.decays,
                       .started = !parameter.state.empty() && parameter.state[0].started});
  }
  return tensors;
}

}  // namespace

bool is_fused_pass(std::string_view operation) {
  return operation == read_once || operation == step_once || operation == head_loss_operation ||
         operation == add_norm_operation || operation == add_norm_backward_operation;
}

bool has_shipped_stages(const Stages& stages) {
  const auto of = [](const Stages& s) {
    return std::tie(s.window, s.begin_window, s.learning_rate, s.cast, s.forward, s.running_stats, s.factor, s.loss,
                    s.backward, s.fork, s.accumulate, s.overflow_check, s.unscale, s.norm, s.clip, s.decay, s.optimizer,
                    s.scaler, s.schedule, s.end_window, s.gemm);
  };
  return of(stages) == of(shipped_stages()) &&
         std::ranges::none_of(stages.variants, [](const auto& named) { return named.second.starts_with('~'); });
}

bool reads_gradients_once(const Run& run) { return run.kernels.has(read_once); }

bool norm_is_fused(const Run& run) {
  return reads_gradients_once(run) && run.kernels.claim("norm").variant == "two_stage";
}

bool steps_at_once(const Run& run) { return run.kernels.has(step_once); }

void declare_fused_passes(Run& run) {
  const Recipe& recipe = run.c.recipe;
  const bool clipped = clips(recipe.clip), decayed = decays(recipe.weight_decay);
  // From the first stage that the case has to the optimizer; none where that stands alone.
  if (steps_at_once(run) && (clipped || decayed)) run.trace.groups = {{clipped ? "clip" : "decay", "optimizer"}};
}

void unscale_check_norm(Run& run) {
  std::vector<SummedTensor> tensors;
  Dtype format = Dtype::fp32;
  for (Parameter& parameter : run.parameters) {
    const DeviceTensor& summed = parameter.buffer ? parameter.buffer : parameter.gradient;
    tensors.push_back({summed.data(), parameter.unscaled.as<float>(), parameter.elements});
    format = summed.dtype;
  }
  const Recipe& recipe = run.c.recipe;
  const bool by_norm = clips_by_norm(recipe.clip) && norm_is_fused(run);
  run.launch<UnscaleCheckNormArguments>(
      read_once, {.tensors = tensors,
                  .format = format,
                  .inverse_scale = run.inverse_scale.as<float>(),
                  .found = checks_overflow(recipe.loss_scale) ? run.found_flag.as<std::uint32_t>() : nullptr,
                  .kind = by_norm ? norm_kind_of(run) : NormKind::two,
                  .partial = run.norm_partials.as<float>(),
                  .norm = by_norm ? run.gradient_norm.as<float>() : nullptr});
}

void clip_decay_step(Run& run) {
  const Recipe& recipe = run.c.recipe;
  const OptimizerSteps& optimizer = optimizer_steps(recipe.optimizer);
  if (optimizer.fuse == nullptr)
    throw NotSupported(std::string(step_once) + " has no step for the optimizer '" + recipe.optimizer.kind + "'");
  const std::vector<SteppedTensor> tensors = stepped_tensors(run);
  ClipDecayStepArguments arguments{};
  arguments.tensors = tensors;
  arguments.format = run.c.precision.master;
  if (clips(recipe.clip)) clip_steps(recipe.clip).fuse(run, arguments);
  if (decays(recipe.weight_decay)) {
    const DecayArguments decay = decay_constants(run);
    arguments.decay = decay_steps(recipe.weight_decay).fused;
    arguments.lambda = decay.lambda;
    arguments.factor = decay.factor;
  }
  optimizer.fuse(run, arguments);
  if (!tensors.empty())
    run.launch(step_once, arguments);
  else if (clips_by_norm(recipe.clip))
    clip_steps(recipe.clip).coefficient(run);  // a rank without a piece has what the others clip by
  if (clips_by_norm(recipe.clip)) run.tap("clip", "coefficient", run.coefficient);
}

}  // namespace tally
