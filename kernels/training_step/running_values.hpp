// Running values of batch norm that ranks begin a window with.
#pragma once

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// Of a layer whose ranks take them from the first, before anything of the window moves them: rank 0 hands its own to
/// every other. Nothing where each keeps its own, or one rank trains.
void take_first_running(Run& run);

}  // namespace tally
