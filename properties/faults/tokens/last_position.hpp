// How far positions may go that a fault makes up.
#pragma once

#include <cstdint>

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// The last row of the shortest table of learned positions, which must not be left; the largest number without one.
std::int64_t last_position(const Run& run);

}  // namespace tally
