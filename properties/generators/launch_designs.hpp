// Plans that take every kernel through every way of its launch: sizes at the edges of warps, blocks, tiles and chunks,
// crossed with variants and formats.
#pragma once

#include <cstdint>

#include "properties/generators/plan.hpp"

namespace tally {

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t launch_designs = 60;

/// Gives the plan the design with the number `plan.seed % launch_designs`: layers, sizes, recipe, formats and kernels.
void design_launches(Plan& plan);

}  // namespace tally
