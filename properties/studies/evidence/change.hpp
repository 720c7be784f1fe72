// One small change of a case or of the orders it runs in: a step of the hill climb.
#pragma once

#include "kernels/device/executor/schedule.hpp"
#include "properties/studies/evidence/clean_case.hpp"

namespace tally {

/// Changes one element of one floating-point tensor (a bit flipped, a neighbour, negated, times a power of two, another
/// element's value), a whole tensor by a power of two, or an order. The case stays valid: values stay finite, variances
/// not negative.
void change(CleanCase& made, executor::Schedule& random);

}  // namespace tally
