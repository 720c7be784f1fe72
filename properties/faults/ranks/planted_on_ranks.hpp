// What faults of ranks have in common: who runs, among how many.
#pragma once

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/run_state.hpp"

namespace tally {

/// 1 and 0 where one rank trains alone.
inline int ranks(const Run& run) { return run.options.link == nullptr ? 1 : run.options.link->size(); }
inline int rank(const Run& run) { return run.options.link == nullptr ? 0 : run.options.link->rank(); }

/// Taps what every parameter's sum came to once more, behind what changed it.
inline void tap_sums(Run& run) {
  for (const Parameter& parameter : run.parameters) run.tap("reduce", "reduced." + parameter.name, parameter.buffer);
}

}  // namespace tally
