// Formulas as MathML, each with its text.
#pragma once

#include "reports/text/markup.hpp"

namespace tally {

/// r = |got - v| / e.
void ratio_formula(Markup& page);
/// accumulated - full batch = rounding drift + semantic gap - rounding drift of the full batch.
void drift_formula(Markup& page);

}  // namespace tally
