// What the kernels of rms_norm take of a run.
#pragma once

#include "kernels/training_step/run_state.hpp"

namespace tally {

NormForwardArguments rms_norm_forward(const Run& run, const LayerState& layer, int k);

}  // namespace tally
