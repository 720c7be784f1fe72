// Plans over tokens that take every kernel of a table through every way of its launch: sizes at the edges of warps and
// blocks, by every variant.
#pragma once

#include <cstdint>

#include "properties/generators/plan.hpp"

namespace tally {

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t look_up_designs = 10;

/// Gives the plan the design with the number `plan.seed % look_up_designs`: tokens, sizes and kernels.
void design_look_ups(Plan& plan);

}  // namespace tally
