// Trajectories in balls of fixed size, which take a small part of the time of Arb's, for those who read Arb's.
#pragma once

#include "oracle/window/trajectory.hpp"

namespace tally::oracle {

/// What trajectory<Ball> encloses at any precision, the same numbers. Throws Undecided where 128 bits leave open what
/// the formulas ask.
std::vector<WindowAnswer<Ball>> short_trajectory(const Case& c, Branch branch);

}  // namespace tally::oracle
