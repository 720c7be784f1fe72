// What a run of one rank is made of, for those that put several together.
#pragma once

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// Every window. A rule of the machine that a kernel broke ends the run: what was tapped until then stands.
void run_windows(Run& run);
/// Inputs are read only: they must end with the bits they began with.
void check_inputs(Run& run);
/// A violation for each guard zone that was damaged.
void add_guard_findings(ExecutorKind executor, Trace& trace);

}  // namespace tally
