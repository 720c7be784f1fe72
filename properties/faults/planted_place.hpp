// Where a fault hits, drawn from the case: the same place in every run of the same case.
#pragma once

#include <string_view>

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// A number in 0 ... count - 1, drawn from the case's batch and the word; count > 0.
std::size_t drawn(const Run& run, std::string_view word, std::size_t count);

/// The one parameter that is hit. Throws NotSupported where there is none, on a rank whose pieces are all empty.
Parameter& drawn_parameter(Run& run);

}  // namespace tally
