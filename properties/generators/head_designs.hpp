// Plans over tokens that take a head that is one with the loss through every way of its launch: sizes at the edges of
// chunks, warps and blocks.
#pragma once

#include <cstdint>

#include "properties/generators/plan.hpp"

namespace tally {

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t head_designs = 12;

/// Gives the plan the design with the number `plan.seed % head_designs`: tokens, sizes, the loss's form and kernels.
void design_head(Plan& plan);

}  // namespace tally
