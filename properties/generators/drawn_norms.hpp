// Norms of every kind, where plans are drawn with one.
#pragma once

#include <string>
#include <vector>

#include "properties/generators/plan.hpp"

namespace tally {

/// The kinds that normalise each row by itself: "layer_norm", "rms_norm".
std::vector<std::string> norms_of_rows();

/// Every layer_norm of the plan becomes any of those kinds, as the plan's seed draws.
void draw_norms(Plan& plan);

}  // namespace tally
