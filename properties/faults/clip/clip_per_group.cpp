// Matrices and vectors are clipped by different optimizers, each by the norm of its own.
#include <vector>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

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
    .stage = "clip",
    .right = "one coefficient for all parameters",
    .wrong = "one for each group",
    .condition = "an active clip, biases",
    .knob = "value",
    .source = "Megatron-LM abf10f8590",
    .laws = {"every_norm_clips", "clip_once_after_unscale"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::clip_per_group_fault
