// Draws every tensor of a planned case.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Fills c.tensors; the rest of the case must stand already.
void draw_tensors(const Plan& plan, Case& c);

}  // namespace tally
