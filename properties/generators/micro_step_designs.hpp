// Plans of ranks that share a micro-step's statistics, in every way and through every way of their kernels' launches:
// rows and features at the edges of lanes, warps, blocks and grids.
#pragma once

#include <cstdint>

#include "properties/generators/plan.hpp"

namespace tally {

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t micro_step_designs = 30;

/// Gives the plan the design with the number `plan.seed % micro_step_designs`: one batch_norm between linear layers, two
/// ranks, what they hand over.
void design_micro_steps(Plan& plan);

}  // namespace tally
