#include <vector>

#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/norm_kind.hpp"
#include "kernels/training_step/rank_totals.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void norm(Run& run) {
  std::vector<NormSource> sources;
  for (Parameter& parameter : run.parameters) {
    run.tap("norm", "in.d." + parameter.name, parameter.unscaled);
    sources.push_back({parameter.unscaled.as<float>(), parameter.elements});
  }
  if (!norm_is_fused(run)) {
    run.launch<NormArguments>(
        "norm", {norm_kind_of(run), sources, run.norm_partials.as<float>(), run.gradient_norm.as<float>()});
  }
  if (!run.pieces.empty() || run.pipelined()) {
    run.tap("norm", "part", run.gradient_norm);
    run.gradient_norm.set_scalar(norm_over_ranks(run, run.gradient_norm.scalar<float>()));
  }
  run.tap("norm", "norm", run.gradient_norm);
}

}  // namespace tally::stage
