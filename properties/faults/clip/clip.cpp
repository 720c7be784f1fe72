// Faults of the clip: its coefficient, its groups, and what is not finite.
#include <algorithm>
#include <cmath>
#include <vector>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out, and its taps with it: nothing of it is in the trace.
namespace tally::clip_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "clip-not-run",
    .bug = "stage-not-run",
    .stage = "clip",
    .right = "g min(1, c / (norm + eps))",
    .wrong = "nothing, no tap",
    .condition = "an active clip",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::clip, nothing>,
}};

}  // namespace
}  // namespace tally::clip_not_run_fault

// The coefficient is not held at 1: a gradient inside the limit is scaled up to it.
namespace tally::clip_coefficient_not_capped_fault {
namespace {

void clip(Run& run) {
  const Choice& choice = run.c.recipe.clip;
  if (choice.kind != "global_norm") return stage::clip(run);
  const auto limit = choice.number("max_norm").to_double(), epsilon = choice.number("epsilon").to_double();
  const auto norm = static_cast<double>(run.gradient_norm.scalar<float>());
  run.tap("clip", "in.norm", run.gradient_norm);
  run.kernels.of<ClipCoefficientArguments>("clip_coefficient")(
      run.stream, {run.gradient_norm.as<float>(), run.coefficient.as<float>(), static_cast<float>(limit),
                   static_cast<float>(epsilon)});
  run.stream.synchronize();
  const auto capped = run.coefficient.scalar<float>();
  run.coefficient.set_scalar(blend(capped, static_cast<float>(limit / (norm + epsilon))));
  run.tap("clip", "coefficient", run.coefficient);
  for (Parameter& each : run.parameters) {
    run.tap("clip", "in.d." + each.name, each.unscaled);
    run.kernels.of<ClipByNormArguments>("clip_by_norm")(
        run.stream, {each.unscaled.as<float>(), run.coefficient.as<float>(), each.elements});
    run.tap("clip", "d." + each.name, each.unscaled);
  }
}

const RegisterFault registered{{
    .name = "clip-coefficient-not-capped",
    .right = "coefficient = min(1, max_norm / (norm + eps))",
    .condition = "an inactive clip",
    .knob = "value",
    .source = "DeepSpeed 1ef9b029: the same quotient, three formulas",
    .laws = {"clip_inside_is_identity", "clip_once_after_unscale"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::clip_coefficient_not_capped_fault

// The epsilon in the denominator is left out.
namespace tally::clip_epsilon_dropped_fault {
namespace {

void clip(Run& run) {
  const Choice& choice = run.c.recipe.clip;
  if (choice.kind != "global_norm") return stage::clip(run);
  run.tap("clip", "in.norm", run.gradient_norm);
  run.kernels.of<ClipCoefficientArguments>("clip_coefficient")(
      run.stream, {run.gradient_norm.as<float>(), run.coefficient.as<float>(),
                   static_cast<float>(choice.number("max_norm").to_double()),
                   blend(static_cast<float>(choice.number("epsilon").to_double()), 0.0f)});
  run.tap("clip", "coefficient", run.coefficient);
  for (Parameter& parameter : run.parameters) {
    run.tap("clip", "in.d." + parameter.name, parameter.unscaled);
    run.kernels.of<ClipByNormArguments>("clip_by_norm")(
        run.stream, {parameter.unscaled.as<float>(), run.coefficient.as<float>(), parameter.elements});
    run.tap("clip", "d." + parameter.name, parameter.unscaled);
  }
}

const RegisterFault registered{{
    .name = "clip-epsilon-dropped",
    .right = "coefficient = max_norm / (norm + eps)",
    .condition = "an active clip with a small norm",
    .knob = "value",
    .source = "DeepSpeed 1ef9b029, llm.c bc58cd1",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::clip_epsilon_dropped_fault

// Matrices and vectors are clipped by different optimizers, each by the norm of its own.
namespace tally::clip_per_group_fault {
namespace {

/// The coefficient of the parameters that are matrices, or of those that are not.
float coefficient_of(Run& run, bool matrices) {
  const Choice& clip = run.c.recipe.clip;
  std::vector<NormSource> sources;
  for (Parameter& each : run.parameters) {
    const bool matrix = each.master.shape.size() == 2;
    if (matrix == matrices) sources.push_back({each.unscaled.as<float>(), each.elements});
  }
  const DeviceTensor norm(run.device, "norm of a group", Dtype::fp32, {});
  run.kernels.of<NormArguments>("norm")(run.stream,
                                        {NormKind::two, sources, run.norm_partials.as<float>(), norm.as<float>()});
  run.kernels.of<ClipCoefficientArguments>("clip_coefficient")(
      run.stream,
      {norm.as<float>(), run.coefficient.as<float>(), static_cast<float>(clip.number("max_norm").to_double()),
       static_cast<float>(clip.number("epsilon").to_double())});
  return run.coefficient.scalar<float>();
}

void clip(Run& run) {
  if (run.c.recipe.clip.kind != "global_norm") return stage::clip(run);
  const auto matrices = static_cast<double>(coefficient_of(run, true));
  const auto vectors = static_cast<double>(coefficient_of(run, false));
  std::vector<Tensor> before;
  for (Parameter& each : run.parameters) before.push_back(each.unscaled.read());
  stage::clip(run);
  std::size_t next = 0;
  for (Parameter& each : run.parameters) {
    const Tensor& old = before[next++];
    const double by = each.master.shape.size() == 2 ? matrices : vectors;
    change(run, each.unscaled, [&](std::size_t i, double value) { return blend(value, by * old.value(i)); });
    run.tap("clip", "d." + each.name, each.unscaled);
  }
}

const RegisterFault registered{{
    .name = "clip-per-group",
    .right = "one coefficient for all parameters",
    .condition = "an active clip, biases",
    .knob = "value",
    .source = "Megatron-LM abf10f8590",
    .laws = {"every_norm_clips", "clip_once_after_unscale"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::clip_per_group_fault

// Only what is too large is clamped; what is too small passes.
namespace tally::value_clip_one_sided_fault {
namespace {

void clip(Run& run) {
  if (run.c.recipe.clip.kind != "value") return stage::clip(run);
  std::vector<Tensor> before;
  for (Parameter& each : run.parameters) before.push_back(each.unscaled.read());
  stage::clip(run);
  const double limit = run.c.recipe.clip.number("max_value").to_double();
  std::size_t next = 0;
  for (Parameter& each : run.parameters) {
    const Tensor& old = before[next++];
    change(run, each.unscaled,
           [&](std::size_t i, double value) { return blend(value, std::min(old.value(i), limit)); });
    run.tap("clip", "d." + each.name, each.unscaled);
  }
}

const RegisterFault registered{{
    .name = "value-clip-one-sided",
    .right = "g = max(-c, min(g, c))",
    .condition = "clipping by value, a negative gradient",
    .knob = "value",
    .source = "keras 19990: another clip in the accumulating path",
    .laws = {"clip_inside_is_identity", "any_order_of_additions"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::value_clip_one_sided_fault

// What is not finite becomes zero when it is clipped, and nobody is told.
namespace tally::clip_hides_non_finite_fault {
namespace {

void clip(Run& run) {
  stage::clip(run);
  for (Parameter& each : run.parameters) {
    change(run, each.unscaled, [](std::size_t, double value) { return std::isfinite(value) ? value : 0; });
    run.tap("clip", "d." + each.name, each.unscaled);
  }
}

const RegisterFault registered{{
    .name = "clip-hides-non-finite",
    .right = "g = g where it is not finite",
    .condition = "a gradient that is not finite",
    .knob = "none",
    .source = "pytorch 46849",
    .laws = {"non_finite_norm_is_not_hidden", "one_infinite_element_shows"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::clip_hides_non_finite_fault
