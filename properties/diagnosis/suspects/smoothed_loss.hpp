// The two terms of a smoothed cross-entropy: the target's and that of all classes.
#pragma once

#include <optional>
#include <vector>

#include "properties/diagnosis/evidence.hpp"

namespace tally {

/// One row: w (1 - e) nll_t, w (e / C) sum nll_c and d(first) / dz, all without the factor; w is 0 for an ignored row.
struct SmoothedRow {
  double main = 0, spread = 0;
  Values main_gradient;
};

/// nullopt where the loss is another, does not smooth, weighs its classes, or a tap is missing.
std::optional<std::vector<SmoothedRow>> smoothed_rows(const Evidence& evidence, int window, int micro_batch);

}  // namespace tally
