// What a training script can compare of two runs, and what the published rules are given: the unscaled gradients and
// the parameters after every window.
#pragma once

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/studies/published/rule.hpp"

namespace tally {

/// The same full batch in fp32, on the same bits: activations, weights and gradients are stored in fp32.
Case in_fp32(const Case& c);

/// Two runs of the same training side by side, window by window, as far as both got: a window in which either run was
/// stopped is left out. A skipped window leaves no gradient and the parameters of the one before. `reference` and
/// `precise` are runs of the full batch, one micro-batch a window.
ComparedRuns comparison_of(const Case& c, const Trace& got, const Trace& reference, const Trace& precise);

/// What is left of it for one who looks at the first window's gradients alone.
ComparedRuns first_gradients(const ComparedRuns& comparison);

}  // namespace tally
