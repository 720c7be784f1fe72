// Running values of batch norm that ranks begin a window with.
#pragma once

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// The running values of a layer whose ranks take them from the first: rank 0 hands its own to every other, before
/// anything of the window moves them. Nothing where each keeps its own, or one rank trains.
void take_first_running(Run& run);

}  // namespace tally
