// Ranks that begin a window with the first rank's running values: under the lenses.
// Defined in local_broadcast.cpp, end_to_end_broadcast.cpp.
#pragma once

#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {

/// What the first rank hands over is what it left, and what this rank holds from there on has its bits.
void check_broadcast(LocalWalk& walk);

/// The same from the case alone. `first` has the running values that the first rank begins this window with; nullptr
/// where only what it tapped is known. Where that is not known either, nothing is of what this rank goes on from.
void expect_broadcast(EndToEndWalk& walk, const ExpectedState* first);

}  // namespace tally
