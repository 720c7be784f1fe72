// Faults of the norm that gradients are clipped by: of which tensors, at which scale, in which format.
#include <cmath>
#include <vector>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out, and its taps with it: nothing of it is in the trace.
namespace tally::norm_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "norm-not-run",
    .bug = "stage-not-run",
    .stage = "norm",
    .right = "norm = √ Σ g²",
    .wrong = "nothing, no tap",
    .condition = "a clip by norm",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"clip_once_after_unscale", "every_norm_clips"},
    .stages = replaced<&Stages::norm, nothing>,
}};

}  // namespace
}  // namespace tally::norm_not_run_fault

// The norm is taken over the first parameter only.
namespace tally::clip_local_norm_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  const Parameter& first = run.parameters.front();
  norm_over(run, {{first.unscaled.as<float>(), first.elements}}, NormKind::two);
}

const RegisterFault registered{{
    .name = "clip-local-norm",
    .right = "norm = |g|, of all parameters",
    .condition = "an active clip, several parameters",
    .knob = "value",
    .source = "pytorch 72548, torchtitan 596",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::clip_local_norm_fault

// A parameter that two owners share is counted twice in the norm.
namespace tally::clip_duplicate_count_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  std::vector<NormSource> sources{{drawn_parameter(run).unscaled.as<float>(), drawn_parameter(run).elements}};
  for (Parameter& each : run.parameters) sources.push_back({each.unscaled.as<float>(), each.elements});
  norm_over(run, sources);
}

const RegisterFault registered{{
    .name = "clip-duplicate-count",
    .right = "norm² = Σ |g_p|²",
    .condition = "an active clip; the parameter is drawn",
    .knob = "value",
    .source = "NeMo-RL PR 3788, Megatron-LM 5c8238c343",
    .laws = {"every_norm_clips", "clip_once_after_unscale", "norm_spans_launches"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::clip_duplicate_count_fault

// The slots of the tensors' norms are off by one behind a tensor that was left out: one counts twice, one not at all.
namespace tally::multi_tensor_norm_offset_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  std::vector<NormSource> sources;
  for (Parameter& each : run.parameters) sources.push_back({each.unscaled.as<float>(), each.elements});
  if (sources.size() > 1) sources[1] = sources[0];
  norm_over(run, sources);
}

const RegisterFault registered{{
    .name = "multi-tensor-norm-offset",
    .right = "norm² = Σ |g_p|²",
    .condition = "several parameters",
    .knob = "value",
    .source = "pytorch 140066, PR 140103, PR 109402",
    .laws = {"every_norm_clips", "clip_once_after_unscale", "norm_spans_launches", "one_parameter_clips"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::multi_tensor_norm_offset_fault

// The norm that clips is the norm of the scaled gradient.
namespace tally::clip_before_unscale_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  std::vector<NormSource> scaled;
  for (Parameter& parameter : run.parameters) {
    if (!parameter.buffer || parameter.buffer.dtype != Dtype::fp32) return;  // the kernel reads fp32
    scaled.push_back({parameter.buffer.as<float>(), parameter.elements});
  }
  norm_over(run, scaled, NormKind::two);
}

const RegisterFault registered{{
    .name = "clip-before-unscale",
    .right = "norm = |A / S|",
    .condition = "an active clip, scale other than 1",
    .knob = "value",
    .source = "Lightning 9330, returnn 1590",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::clip_before_unscale_fault

// The norm that is reported is that of the scaled gradient; the one that clips is right.
namespace tally::reported_norm_still_scaled_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  const auto norm = run.gradient_norm.scalar<float>();
  run.tap("norm", "norm", blend(norm, norm * run.window_scale));
}

const RegisterFault registered{{
    .name = "reported-norm-still-scaled",
    .right = "norm = |g|",
    .condition = "scale other than 1",
    .knob = "value",
    .source = "DeepSpeed PR 8588",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::reported_norm_still_scaled_fault

// The squares of the norm are formed and added in fp16: above 255 they are infinite.
namespace tally::norm_in_half_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.c.recipe.clip.text("norm") != "2") return;
  Tensor sum(Dtype::fp16, {1}), square(Dtype::fp16, {1});
  for (Parameter& each : run.parameters) {
    const Tensor gradient = read(run, each.unscaled.data(), Dtype::fp32, {each.elements});
    for (std::size_t i = 0; i < gradient.elements(); ++i) {
      square.set(0, gradient.value(i) * gradient.value(i));
      sum.set(0, sum.value(0) + square.value(0));
    }
  }
  leave_norm(run, run.gradient_norm.scalar<float>(), static_cast<float>(std::sqrt(sum.value(0))));
}

const RegisterFault registered{{
    .name = "norm-in-half",
    .right = "norm = √ Σ g² in fp32",
    .condition = "an active clip by the 2-norm",
    .knob = "value",
    .source = "burn 5699, fairscale PR 263, NeMo Automodel PR 825",
    .laws = {"every_norm_clips", "clip_once_after_unscale", "norms_count_every_element", "one_parameter_clips"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::norm_in_half_fault

// The largest magnitude is taken by a maximum that ignores NaN.
namespace tally::inf_norm_drops_nan_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.c.recipe.clip.text("norm") != "inf") return;
  double largest = 0;
  for (Parameter& each : run.parameters) {
    const Tensor gradient = read(run, each.unscaled.data(), Dtype::fp32, {each.elements});
    for (std::size_t i = 0; i < gradient.elements(); ++i) largest = std::fmax(largest, std::fabs(gradient.value(i)));
  }
  run.gradient_norm.set_scalar(static_cast<float>(largest));
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "inf-norm-drops-nan",
    .stage = "norm",
    .right = "NaN where an element is NaN",
    .wrong = "the largest of the others",
    .condition = "the inf norm, a NaN",
    .knob = "none",
    .source = "pytorch 46849: a gradient that is not finite passes",
    .laws = {"non_finite_norm_is_not_hidden", "one_infinite_element_shows"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::inf_norm_drops_nan_fault
