// The norm over other tensors than the run's parameters.
#pragma once

#include <vector>

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// The norm that the case's clip asks for, over these sources, left where the run's norm is and tapped. Partial
/// results take memory of their own.
inline void norm_over(Run& run, const std::vector<NormSource>& sources) {
  const std::string& asked = run.c.recipe.clip.text("norm");
  const NormKind kind = asked == "1" ? NormKind::one : asked == "inf" ? NormKind::infinity : NormKind::two;
  const DeviceTensor partial(run.device, "partial norms of a fault", Dtype::fp32, {norm_chunks(sources)});
  run.kernels.norm(run.stream, {kind, sources, partial.as<float>(), run.gradient_norm.as<float>()});
  run.stream.synchronize();
  run.tap("norm", "norm", run.gradient_norm);
}

}  // namespace tally
