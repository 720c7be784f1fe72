// Statistics of batch norm beside its own rows: a micro-step's on one rank, and the running values that ranks begin
// with.
#pragma once

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

// A micro-step's statistics on one rank: what it works out of its own rows, and then puts together with all others.

/// The statistics of run.micro_batch, before the layer normalises its rows: mean, var and rstd of all ranks' rows. A
/// rank that lacks this micro-batch takes part with no rows.
void share_statistics(Run& run, LayerState& layer);
/// The column sums of all ranks' rows, in dw_sum and db_sum, behind the rank's own, in own_first (of dy h) and
/// own_second (of dy).
void share_gradient_sums(Run& run, LayerState& layer);

// Running values of batch norm that ranks begin a window with.

/// The running values of a layer whose ranks take them from the first: rank 0 hands its own to every other, before
/// anything of the window moves them. Nothing where each keeps its own, or one rank trains.
void take_first_running(Run& run);

}  // namespace tally
