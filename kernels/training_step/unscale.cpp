#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void unscale(Run& run) {
  run.tap("unscale", "in.inverse_scale", run.inverse_scale);
  for (Parameter& parameter : run.parameters) {
    const DeviceTensor& summed = run.tap_summed("unscale", parameter);
    run.kernels.unscale(run.stream, {summed.dtype, summed.data(), parameter.unscaled.as<float>(),
                                     run.inverse_scale.as<float>(), parameter.elements});
    run.tap("unscale", "d." + parameter.name, parameter.unscaled);
  }
}

}  // namespace tally::stage
