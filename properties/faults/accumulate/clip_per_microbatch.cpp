// Every micro-batch is clipped before it is added.
#include <vector>

#include "properties/faults/seeded.hpp"

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
    .stage = "accumulate",
    .right = "clip(Σ s_k)",
    .wrong = "Σ clip(s_k)",
    .condition = "an active clip, K > 1, fp32",
    .knob = "value",
    .source = "transformers 1563, keras 19990",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::clip_per_microbatch_fault
