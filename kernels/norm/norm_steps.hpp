// How a step runs RMS norm, a residual sum with the norm that follows it, and statistics of batch norm beside its own
// rows. Defined in norm_steps.cpp, kernels/training_step/batch_statistics.cpp.
#pragma once

#include "kernels/layer_arguments.hpp"
#include "kernels/training_step/run/run_state.hpp"

namespace tally {

// What the kernels of rms_norm take of a run.

NormForwardArguments rms_norm_forward(const Run& run, const LayerState& layer, int k);

// A residual sum and the RMS norm that follows it as one (operations `add_norm` and `add_norm.backward`), where a case
// chooses that: the bits of the two by themselves, and every tap. The sum has two inputs, and the norm stands directly
// behind it; back through both the sum has one reader more. Other sums and norms run by themselves, and so do all where
// rms_norm's own kernel is another than `row_lanes`, or where a trace is followed from tap to tap.

inline constexpr const char *add_norm_operation = "add_norm", *add_norm_backward_operation = "add_norm.backward";

/// The norm that this sum's kernel takes along; nullptr: none.
LayerState* norm_added_to(Run& run, const LayerState& sum);
/// The sum whose kernel takes this norm along; nullptr: none.
LayerState* sum_normalised_by(Run& run, const LayerState& norm);
/// The same in backward, where the norm's kernel takes the sum's gradient along.
LayerState* norm_adding_back_to(Run& run, const LayerState& sum);
LayerState* sum_added_back_by(Run& run, const LayerState& norm);

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
