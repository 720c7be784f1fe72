// The model of an ordinary plan: input, layers, loss and initial values.
#pragma once

#include "properties/generators/ordinary/drawing_lots.hpp"
#include "properties/generators/ordinary/ordinary_plan.hpp"

namespace tally {

void choose_ordinary_model(Plan& plan, OrdinarySize size, Lots& lots);

/// Whether rows of a micro-batch are normalised together.
bool has_batch_statistics(const Plan& plan);

}  // namespace tally
