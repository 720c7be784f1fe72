// Plans that take a residual sum with its norm, and the way back through both, through every way of their launches.
#pragma once

#include <cstdint>

#include "properties/generators/plan.hpp"

namespace tally {

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t residual_norm_designs = 10;

/// Gives the plan the design with the number `plan.seed % residual_norm_designs`: layers, sizes and kernels.
void design_residual_norms(Plan& plan);

}  // namespace tally
