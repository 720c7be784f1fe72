// Fused passes over all parameters of a window. A case chooses them by execution.kernels, a stage table by its
// variants; under a table that replaces stages a case's choice counts for nothing, as a replaced stage stands alone.
#pragma once

#include <string_view>

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// Whether an operation names a fused pass: it has no kernel in the KernelTable.
bool is_fused_pass(std::string_view operation);

/// Whether this run fuses overflow_check, unscale and norm into one pass, which the first of them launches.
bool reads_gradients_once(const Run& run);
/// Whether that pass takes the norm too: the norm's kernel is `two_stage`, whose additions it does. Any other kernel
/// runs by itself, after.
bool norm_is_fused(const Run& run);
/// What the fused passes claim, and the groups that they leave without taps.
void claim_fused_passes(Run& run);
/// That pass: found, every unscaled gradient, and the norm where the case clips by it and norm_is_fused.
void unscale_check_norm(Run& run);

/// Whether this run fuses clip, decay and optimizer into one pass, which the last of them launches. They leave no taps
/// between them but the coefficient; the trace declares the group.
bool steps_at_once(const Run& run);
/// That pass.
void clip_decay_step(Run& run);

}  // namespace tally
