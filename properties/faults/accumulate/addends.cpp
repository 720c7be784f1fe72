// Faults of accumulate: what is added, and into which place of the buffer.
#include <vector>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out there, and its taps with it: nothing of it is in the trace.
namespace tally::accumulate_not_run_fault {
namespace {

void sometimes(Run& run) {
  const bool left_out = run.micro_batch > 0;
  if (!left_out) stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "accumulate-not-run",
    .bug = "stage-not-run",
    .stage = "accumulate",
    .right = "A += s_k",
    .wrong = "nothing after the first, no tap",
    .condition = "K > 1",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"exact_lane", "partition_equals_full_batch"},
    .stages = replaced<&Stages::accumulate, sometimes>,
}};

}  // namespace
}  // namespace tally::accumulate_not_run_fault

// Only the first micro-batch reaches the buffer.
namespace tally::microstep_dropped_fault {
namespace {

void accumulate(Run& run) {
  const int k = run.micro_batch;
  if (k == 0) return stage::accumulate(run);
  for (Parameter& parameter : run.parameters) {
    run.tap("accumulate", "in.d." + parameter.name, run.gradient_of(&parameter, k), parameter.gradient.dtype,
            parameter.master.shape);
    run.tap("accumulate", "in.buffer." + parameter.name, parameter.buffer);
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
  }
}

const RegisterFault registered{{
    .name = "microstep-dropped",
    .right = "A = Σ s_k",
    .condition = "K > 1",
    .knob = "value",
    .source = "DeepSpeed 7967",
    .laws = {"exact_lane", "partition_equals_full_batch"},
    .stages = replaced<&Stages::accumulate, between_stages<stage::accumulate, accumulate>>,
}};

}  // namespace
}  // namespace tally::microstep_dropped_fault

// One parameter misses one micro-batch of one window.
namespace tally::one_microbatch_of_one_tensor_dropped_fault {
namespace {

void accumulate(Run& run) {
  Parameter& hit = drawn_parameter(run);
  const auto count = static_cast<std::size_t>(micro_batches(run));
  const bool here = static_cast<std::size_t>(run.window) == drawn(run, "window", run.c.windows.size()) &&
                    static_cast<std::size_t>(run.micro_batch) == drawn(run, "micro_batch", count);
  if (!here) return stage::accumulate(run);
  const Tensor before = hit.buffer.read();
  stage::accumulate(run);
  change(run, hit.buffer, [&](std::size_t i, double value) { return blend(value, before.value(i)); });
  run.tap("accumulate", "buffer." + hit.name, hit.buffer);
}

const RegisterFault registered{{
    .name = "one-microbatch-of-one-tensor-dropped",
    .right = "A = A + s_k",
    .condition = "place drawn",
    .knob = "value",
    .source = "DeepSpeed 9d632f103: a path taken by one micro-batch",
    .laws = {"partition_equals_full_batch", "exact_lane"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::one_microbatch_of_one_tensor_dropped_fault

// The weight and bias of norms keep only the last micro-batch.
namespace tally::bn_affine_gradient_last_only_fault {
namespace {

void accumulate(Run& run) {
  for (Parameter& parameter : run.parameters) {
    if (parameter.name.starts_with("norm")) fade(run, parameter.buffer);
  }
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "bn-affine-gradient-last-only",
    .right = "A = A + s_k",
    .condition = "K > 1 and a norm with weight and bias",
    .knob = "value",
    .source = "mxnet 18499",
    .laws = {"batch_norm_keeps_its_definition", "layer_norm_leaves_no_gap"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::bn_affine_gradient_last_only_fault

// Every micro-batch is clipped before it is added.
namespace tally::clip_per_microbatch_fault {
namespace {

void accumulate(Run& run) {
  const Choice& clip = run.c.recipe.clip;
  if (clip.kind != "global_norm" || run.c.precision.storage != Dtype::fp32) return stage::accumulate(run);
  std::vector<NormSource> sources;
  for (Parameter& parameter : run.parameters) {
    sources.push_back({static_cast<const float*>(run.gradient_of(&parameter, run.micro_batch)), parameter.elements});
  }
  run.kernels.of<NormArguments>("norm")(
      run.stream, {NormKind::two, sources, run.norm_partials.as<float>(), run.gradient_norm.as<float>()});
  run.kernels.of<ClipCoefficientArguments>("clip_coefficient")(
      run.stream, {run.gradient_norm.as<float>(), run.coefficient.as<float>(),
                   static_cast<float>(clip.number("max_norm").to_double()),
                   static_cast<float>(clip.number("epsilon").to_double())});
  run.stream.synchronize();
  run.coefficient.set_scalar(blend(1.0f, run.coefficient.scalar<float>()));
  for (Parameter& parameter : run.parameters) {
    auto* gradient = static_cast<float*>(const_cast<void*>(run.gradient_of(&parameter, run.micro_batch)));
    run.kernels.of<ClipByNormArguments>("clip_by_norm")(run.stream,
                                                        {gradient, run.coefficient.as<float>(), parameter.elements});
  }
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "clip-per-microbatch",
    .right = "A = Σ s_k, then clip(A)",
    .condition = "an active clip, K > 1, fp32",
    .knob = "value",
    .source = "transformers 1563, keras 19990",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::clip_per_microbatch_fault

// The buffer is unscaled after the first micro-batch and goes on being filled with scaled gradients.
namespace tally::unscale_mid_window_fault {
namespace {

void accumulate(Run& run) {
  stage::accumulate(run);
  if (run.micro_batch != 0) return;
  for (Parameter& parameter : run.parameters) {
    if (parameter.buffer.dtype != Dtype::fp32) continue;  // the kernel writes fp32
    run.kernels.of<UnscaleArguments>("unscale")(
        run.stream, {Dtype::fp32, parameter.buffer.data(), parameter.buffer.as<float>(), run.inverse_scale.as<float>(),
                     parameter.elements});
  }
}

const RegisterFault registered{{
    .name = "unscale-mid-window",
    .right = "A = Σ s_k",
    .condition = "K > 1, scale other than 1",
    .knob = "value",
    .source = "pytorch PR 36601, amp_examples",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale"},
    .stages = replaced<&Stages::accumulate, between_stages<stage::accumulate, accumulate>>,
}};

}  // namespace
}  // namespace tally::unscale_mid_window_fault

// A micro-batch without items gets a placeholder for its gradient, which is added with whatever it holds.
namespace tally::placeholder_added_fault {
namespace {

void accumulate(Run& run) {
  stage::accumulate(run);
  if (run.items(run.micro_batch) != 0) return;
  for (Parameter& parameter : run.parameters) {
    change(run, parameter.buffer,
           [](std::size_t i, double value) { return blend(value, value + (i % 2 == 0 ? 1 : -1)); });
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
  }
}

const RegisterFault registered{{
    .name = "placeholder-added",
    .stage = "accumulate",
    .right = "A += 0",
    .wrong = "A += the memory of the placeholder",
    .condition = "a micro-batch with n_k = 0",
    .knob = "value",
    .source = "Megatron-LM a96650b9b2, d262dbed3d",
    .laws = {"unequal_items_are_weighted"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::placeholder_added_fault

// Parameters without a gradient take no room in the flat buffer, so that all behind them shift.
namespace tally::flat_buffer_misaligned_fault {
namespace {

/// All gradients of this micro-batch that are not zero throughout, one behind the other.
std::vector<double> flat_gradients(Run& run) {
  std::vector<double> flat;
  for (Parameter& parameter : run.parameters) {
    const Tensor gradient =
        read(run, run.gradient_of(&parameter, run.micro_batch), parameter.gradient.dtype, {parameter.elements});
    bool none = true;
    for (std::size_t i = 0; i < gradient.elements(); ++i) none = none && gradient.value(i) == 0;
    for (std::size_t i = 0; i < gradient.elements() && !none; ++i) flat.push_back(gradient.value(i));
  }
  return flat;
}

void accumulate(Run& run) {
  std::vector<Tensor> before;
  for (Parameter& parameter : run.parameters) before.push_back(parameter.buffer.read());
  stage::accumulate(run);
  const std::vector<double> flat = flat_gradients(run);
  std::size_t offset = 0, next = 0;
  for (Parameter& parameter : run.parameters) {
    const Tensor& old = before[next++];
    change(run, parameter.buffer, [&](std::size_t i, double value) {
      return blend(value, old.value(i) + (offset + i < flat.size() ? flat[offset + i] : 0));
    });
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
    offset += static_cast<std::size_t>(parameter.elements);
  }
}

const RegisterFault registered{{
    .name = "flat-buffer-misaligned",
    .right = "A_i = A_i + s_i",
    .condition = "a gradient that is zero throughout",
    .knob = "value",
    .source = "DeepSpeed 0178e6cc2, 545",
    .laws = {"unequal_items_are_weighted", "partition_equals_full_batch", "any_order_of_additions"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::flat_buffer_misaligned_fault
