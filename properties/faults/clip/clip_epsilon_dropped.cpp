// The epsilon in the denominator is left out.
#include "properties/faults/seeded.hpp"

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
    .stage = "clip",
    .right = "max_norm / (norm + 1e-6)",
    .wrong = "max_norm / norm",
    .condition = "an active clip with a small norm",
    .knob = "value",
    .source = "DeepSpeed 1ef9b029, llm.c bc58cd1",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::clip_epsilon_dropped_fault
