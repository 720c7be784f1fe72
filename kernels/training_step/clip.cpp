#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/kinds.hpp"

namespace tally::stage {

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
