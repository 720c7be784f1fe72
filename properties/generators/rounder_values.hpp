// Round numbers for the tensors of a case: what a shrinker tries once the plan is as small as it gets.
#pragma once

#include <functional>

#include "oracle/case/case.hpp"

namespace tally {

/// Makes tensor values rounder while `still_fails` says yes: whole tensors first (fewer bits, small integers, ones,
/// zeros), then element by element. Targets of classes move towards class 0, running variances and item weights stay.
/// Ends when nothing more can be made rounder or after `attempts` questions; returns the roundest case that failed.
Case with_rounder_values(Case c, int attempts, const std::function<bool(const Case&)>& still_fails);

/// How far a value is from being round: 0 for 0, 1 for 1, 2 for other powers of two up to 64 and their negatives and
/// integers up to 8, then the bits it needs.
int roughness(double value);

}  // namespace tally
