#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/kinds.hpp"

namespace tally::stage {

void unscale(Run& run) {
  run.tap("unscale", "in.inverse_scale", run.inverse_scale);
  const bool fused = reads_gradients_once(run);
  if (fused && !checks_overflow(run.c.recipe.loss_scale)) unscale_check_norm(run);  // no overflow_check did
  for (Parameter& parameter : run.parameters) {
    const DeviceTensor& summed = run.tap_summed("unscale", parameter);
    if (!fused) {
      run.launch<UnscaleArguments>("unscale", {summed.dtype, summed.data(), parameter.unscaled.as<float>(),
                                               run.inverse_scale.as<float>(), parameter.elements});
    }
    run.tap("unscale", "d." + parameter.name, parameter.unscaled);
  }
}

}  // namespace tally::stage
