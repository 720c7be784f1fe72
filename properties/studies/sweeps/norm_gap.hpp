// What cutting a batch into micro-batches does to a network with a norm: the exact gap, and a subject's rounding.
#pragma once

#include <string>
#include <vector>

#include "properties/laws/law.hpp"
#include "properties/studies/sweeps/exact_problem.hpp"

namespace tally {

/// The norms of the sweep: BatchNorm by its statistics ("micro_batch", "window", "frozen"), or "layer_norm".
const std::vector<std::string>& sweep_norms();
/// Linear 16, the norm, tanh.
std::vector<Layer> layers_with(const std::string& norm);

/// Accumulated against full batch in the first window, both exact (long double, nothing rounded to 0): the 2-norm of
/// the difference relative to the full batch's. 0 for running values where there are none.
struct NormGap {
  double gradient = 0, running_mean = 0, running_var = 0;
};
NormGap norm_gap(const Case& c);

/// The gap of the running values when the micro-batches' momentum is 1 - (1 - momentum)^(1/K), so that K updates move
/// as far as one of the full batch.
NormGap norm_gap_with_shared_momentum(const Case& c);

/// A subject's distance to the exact accumulated gradient and the bound of it, relative as above.
struct NormDrift {
  double rounding = 0, bound = 0;
};
NormDrift norm_drift(const Case& c, const RunOptions& subject);

}  // namespace tally
