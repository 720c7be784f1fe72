// The norm over other tensors than the run's parameters.
#pragma once

#include <vector>

#include "kernels/training_step/run_state.hpp"
#include "properties/faults/magnitude.hpp"

namespace tally {

/// Leaves a wrong norm where the run's norm is, as far from it as the magnitude says, and taps it.
inline void leave_norm(Run& run, float right, float wrong) {
  run.gradient_norm.set_scalar(blend(right, wrong));
  run.tap("norm", "norm", run.gradient_norm);
}

/// The norm of this kind over these sources, left so. Partial results take memory of their own.
inline void norm_over(Run& run, const std::vector<NormSource>& sources, NormKind kind) {
  run.stream.synchronize();
  const auto right = run.gradient_norm.scalar<float>();
  const DeviceTensor partial(run.device, "partial norms of a fault", Dtype::fp32, {norm_chunks(sources)});
  run.kernels.of<NormArguments>("norm")(run.stream,
                                        {kind, sources, partial.as<float>(), run.gradient_norm.as<float>()});
  run.stream.synchronize();
  leave_norm(run, right, run.gradient_norm.scalar<float>());
}

/// The norm that the case's clip asks for.
inline void norm_over(Run& run, const std::vector<NormSource>& sources) {
  const std::string& asked = run.c.recipe.clip.text("norm");
  norm_over(run, sources, asked == "1" ? NormKind::one : asked == "inf" ? NormKind::infinity : NormKind::two);
}

}  // namespace tally
