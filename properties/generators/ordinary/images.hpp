// Images of the handwritten digits as a case's rows.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Writes consecutive images, from one that the plan's seed chooses, into x, grey values 0 … 1; and where the loss has
/// classes for all ten digits, the digits they show into target.
void show_digits(const Plan& plan, Case& c);

}  // namespace tally
