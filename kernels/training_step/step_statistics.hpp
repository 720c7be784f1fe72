// A micro-step's statistics on one rank: what it works out of its own rows, and then puts together with all others.
#pragma once

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// The statistics of run.micro_batch, before the layer normalises its rows: mean, var and rstd of all ranks' rows. A
/// rank that lacks this micro-batch takes part with no rows.
void share_statistics(Run& run, LayerState& layer);
/// The column sums of all ranks' rows, in dw_sum and db_sum, behind the rank's own, in own_first (of dy h) and
/// own_second (of dy).
void share_gradient_sums(Run& run, LayerState& layer);

}  // namespace tally
