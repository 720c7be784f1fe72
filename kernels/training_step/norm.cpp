#include <vector>

#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/norm_kind.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void norm(Run& run) {
  std::vector<NormSource> sources;
  for (Parameter& parameter : run.parameters) {
    run.tap("norm", "in.d." + parameter.name, parameter.unscaled);
    sources.push_back({parameter.unscaled.as<float>(), parameter.elements});
  }
  if (!norm_is_fused(run)) {
    run.launch<NormArguments>("norm", {norm_kind_of(run.c.recipe.clip), sources, run.norm_partials.as<float>(),
                                       run.gradient_norm.as<float>()});
  }
  run.tap("norm", "norm", run.gradient_norm);
}

}  // namespace tally::stage
