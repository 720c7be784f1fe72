// The coefficient is not held at 1: a gradient inside the limit is scaled up to it.
#include "properties/faults/seeded.hpp"

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
    .stage = "clip",
    .right = "min(1, c / (n + ε))",
    .wrong = "c / (n + ε)",
    .condition = "an inactive clip",
    .knob = "value",
    .source = "DeepSpeed 1ef9b029: the same quotient, three formulas",
    .laws = {"clip_inside_is_identity", "clip_once_after_unscale"},
    .stages = replaced<&Stages::clip, clip>,
}};

}  // namespace
}  // namespace tally::clip_coefficient_not_capped_fault
