// Options away from their usual values: what a kernel has hard-coded shows in no case that leaves them there.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Gives one in four options of every choice of the plan a value of its contract (option_values.hpp) where the case
/// stays legal; follows from the plan's seed.
void draw_options(Plan& plan);

/// Lists with a number for each class, after a law's shape has changed how many there are.
void fit_lists_to_outputs(Plan& plan);

}  // namespace tally
