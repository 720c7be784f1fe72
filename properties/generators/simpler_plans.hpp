// One step towards a simpler plan: what a shrinker tries, in the order it should try it.
#pragma once

#include <vector>

#include "properties/generators/plan.hpp"

namespace tally {

/// Plans that differ from this one in one thing and are simpler in it: fewer layers, windows, micro-batches, features
/// and rows, plainer losses and recipes. The largest cuts first. Empty once nothing is left to take away. Every step
/// lowers a finite measure, so that taking one after another ends.
std::vector<Plan> simpler_plans(const Plan& plan);

}  // namespace tally
