// The accumulate stage with another addition.
#pragma once

#include <functional>

#include "kernels/training_step/run_state.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally {

/// Runs the shipped stage, then leaves `sum(buffer, gradient)` of what it read in every element of every buffer,
/// rounded to the buffer's format, and taps that instead: as far from the shipped sum as the magnitude says.
void accumulate_by(Run& run, const std::function<double(double buffer, double gradient)>& sum, Mix mix = Mix::values);

}  // namespace tally
