#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {
namespace {

void by_norm(Run& run) {
  const Choice& clip = run.c.recipe.clip;
  run.tap("clip", "in.norm", run.gradient_norm);
  run.launch<ClipCoefficientArguments>("clip_coefficient", {run.gradient_norm.as<float>(), run.coefficient.as<float>(),
                                                            static_cast<float>(clip.number("max_norm").to_double()),
                                                            static_cast<float>(clip.number("epsilon").to_double())});
  run.tap("clip", "coefficient", run.coefficient);
  for (Parameter& parameter : run.parameters) {
    run.tap("clip", "in.d." + parameter.name, parameter.unscaled);
    run.launch<ClipByNormArguments>("clip_by_norm",
                                    {parameter.unscaled.as<float>(), run.coefficient.as<float>(), parameter.elements});
    run.tap("clip", "d." + parameter.name, parameter.unscaled);
  }
}

void by_value(Run& run) {
  const auto limit = static_cast<float>(run.c.recipe.clip.number("max_value").to_double());
  for (Parameter& parameter : run.parameters) {
    run.tap("clip", "in.d." + parameter.name, parameter.unscaled);
    run.launch<ClipByValueArguments>("clip_by_value", {parameter.unscaled.as<float>(), parameter.elements, limit});
    run.tap("clip", "d." + parameter.name, parameter.unscaled);
  }
}

/// A fused step reads them here, and writes none of the gradients that it clips.
void tap_inputs(Run& run) {
  if (run.c.recipe.clip.kind == "global_norm") run.tap("clip", "in.norm", run.gradient_norm);
  for (const Parameter& parameter : run.parameters) run.tap("clip", "in.d." + parameter.name, parameter.unscaled);
}

}  // namespace

void clip(Run& run) { (steps_at_once(run) ? tap_inputs : run.c.recipe.clip.kind == "value" ? by_value : by_norm)(run); }

}  // namespace tally::stage
