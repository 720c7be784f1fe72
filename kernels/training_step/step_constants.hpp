// The constants of a window's decay, derived in binary64 and rounded once. Tensors and sizes are
// left empty.
#pragma once

#include "kernels/training_step/run_state.hpp"

namespace tally {

DecayArguments decay_constants(const Run& run);

}  // namespace tally
