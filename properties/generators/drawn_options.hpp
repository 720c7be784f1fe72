// Options away from their usual values: what a kernel has hard-coded shows in no case that leaves them there.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Gives one in four options of every choice of the plan a value of its contract (option_values.hpp) where the case
/// stays legal; follows from the plan's seed.
void draw_options(Plan& plan);

/// What a law has made of the plan: class weights for as many outputs as there are now, and no pass over all
/// parameters that has no step for the optimizer.
void fit_options(Plan& plan);

}  // namespace tally
