// Which attention drops weights by a mask, which has a number for each pair of rows of one sequence, and for no other.
#pragma once

#include <algorithm>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

inline bool drops_weights(const LayerState& layer) { return layer.mask && layer.layer->kind == "attention"; }
inline bool drops_weights(const Run& run) {
  return std::ranges::any_of(run.layers, [](const LayerState& layer) { return drops_weights(layer); });
}

}  // namespace tally
