// What the kernels of cross_entropy take of a run.
#pragma once

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// The arguments of micro-batch k, with its logits and where their gradients go.
CrossEntropyArguments cross_entropy_arguments(const Run& run, int k, const void* z, std::int64_t classes, float* losses,
                                              void* dz);

}  // namespace tally
