// The semantic gap: what accumulation changes in exact arithmetic. Zero for an equivalent recipe, the exact size of the
// effect otherwise; no rounding is in it.
#pragma once

#include <vector>

#include "oracle/case/case.hpp"

namespace tally::oracle {

/// |accumulated - full batch| / |full batch| in the 2-norm over all parameters, for one window. Exactly 0 when the
/// difference is no larger than its own uncertainty; inf when the full batch's is 0 and the accumulated one's is not.
struct WindowGap {
  double gradient = 0;   // of the gradients after unscaling, before clipping
  double parameter = 0;  // of the parameters after the window
};

/// One entry a window, each branch on its own trajectory. The difference is evaluated at two precisions; what changes
/// between them is its uncertainty, and the gap is certified to the precision of a double. Throws NotCertified.
std::vector<WindowGap> semantic_gap(const Case& c);

/// The first window's gradient alone: no step enters it, and so no decision that a step may leave open, such as the sign
/// of a gradient that is 0. Throws NotCertified.
double first_gradient_gap(const Case& c);

/// The gaps of two cases that state one training otherwise, each as it accumulates: for every window that between their
/// gradients, and that between what the window leaves, parameters and running values; under lion, whose step is a sign
/// and so left open where a gradient is 0, those of the first window's gradients and running values alone. Throws
/// NotCertified.
std::vector<WindowGap> gap_between(const Case& c, const Case& other);

}  // namespace tally::oracle
