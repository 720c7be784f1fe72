#include <vector>

#include "kernels/training_step/stages.hpp"

namespace tally::stage {
namespace {

NormKind kind_of(const Choice& clip) {
  const std::string& norm = clip.text("norm");
  return norm == "1" ? NormKind::one : norm == "inf" ? NormKind::infinity : NormKind::two;
}

}  // namespace

void norm(Run& run) {
  std::vector<NormSource> sources;
  for (Parameter& parameter : run.parameters) {
    run.tap("norm", "in.d." + parameter.name, parameter.unscaled);
    sources.push_back({parameter.unscaled.as<float>(), parameter.elements});
  }
  run.kernels.norm(run.stream,
                   {kind_of(run.c.recipe.clip), sources, run.norm_partials.as<float>(), run.gradient_norm.as<float>()});
  run.tap("norm", "norm", run.gradient_norm);
}

}  // namespace tally::stage
