// Plans of ranks that take the sum over ranks, and what makes a number travel, through every way of their launch: buckets
// and parameters at the edges of warps, blocks and grids, in every format that travels.
#pragma once

#include <cstdint>

#include "properties/generators/plan.hpp"

namespace tally {

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t rank_designs = 30;

/// Gives the plan the design with the number `plan.seed % rank_designs`: one linear layer, the buffer's format, buckets.
void design_ranks(Plan& plan);

}  // namespace tally
