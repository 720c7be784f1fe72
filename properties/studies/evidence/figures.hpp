// What the evidence has to show for the tolerances to stand, figure by figure.
#pragma once

#include <string>
#include <vector>

#include "properties/studies/evidence/gather.hpp"

namespace tally {

struct Figure {
  std::string name, demanded, found;
  bool met = false;  // false too where nothing was seen
  bool seen = true;  // whether there was anything to measure
};

/// No alarm, every check made, r below 1, a median that says the bounds are not loose, gradients that are held end to
/// end, and a search that found no way over a bound.
std::vector<Figure> figures_of(const GatheredEvidence& evidence);

/// One sentence or two from these numbers.
std::string answer_of(const GatheredEvidence& evidence);

/// All hard families in both lenses: their checks and alarms (a case counts once a lens).
Stratum hard_cases(const GatheredEvidence& evidence);

/// The first window's gradients end to end: fp32, at most two linear layers, eight valid items or more in each
/// micro-batch, tensors that are zero throughout left out.
Stratum demanded_gradients(const Strata& strata);

}  // namespace tally
