// Fused passes over all parameters of a window. A case chooses them by execution.kernels, a stage table by its
// variants; under a table that replaces stages a case's choice counts for nothing, as a replaced stage stands alone.
#pragma once

#include <string_view>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

/// Whether an operation names a fused pass.
bool is_fused_pass(std::string_view operation);
/// Whether the stages are those that ship, perhaps with other shipped kernels: a fused pass takes the place of several
/// stages, and must not hide a fault that was planted in one.
bool has_shipped_stages(const Stages& stages);

/// Whether this run fuses overflow_check, unscale and norm into one pass, which the first of them launches.
bool reads_gradients_once(const Run& run);
/// Whether that pass takes the norm too: the norm's kernel is `two_stage`, whose additions it does. Any other kernel
/// runs by itself, after.
bool norm_is_fused(const Run& run);
/// The groups of stages that the fused passes leave without taps.
void declare_fused_passes(Run& run);
/// That pass: found, every unscaled gradient, and the norm where the case clips by it and norm_is_fused.
void unscale_check_norm(Run& run);

/// Whether this run fuses clip, decay and optimizer into one pass, which the last of them launches. They leave no taps
/// between them but the coefficient; the trace declares the group.
bool steps_at_once(const Run& run);
/// That pass.
void clip_decay_step(Run& run);

}  // namespace tally
