// Plans that take every kernel through every way of its launch: sizes at the edges of warps, blocks, tiles and grids.
// Defined in launch_designs.cpp, token_and_rank_designs.cpp.
#pragma once

#include <cstdint>

#include "properties/generators/plan.hpp"

namespace tally {

// Plans that take every kernel through every way of its launch: sizes at the edges of warps, blocks, tiles and chunks,
// crossed with variants and formats.

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t launch_designs = 90;

/// Gives the plan the design with the number `plan.seed % launch_designs`: layers, sizes, recipe, formats and kernels.
void design_launches(Plan& plan);

// Plans that take a residual sum with its norm, and the way back through both, through every way of their launches.

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t residual_norm_designs = 10;

/// Gives the plan the design with the number `plan.seed % residual_norm_designs`: layers, sizes and kernels.
void design_residual_norms(Plan& plan);

// Sizes that take attention's kernels every way of their launches, for a law of its own.

/// As many seeds in a row take every way in a precision.
inline constexpr std::uint64_t attention_designs = 35;

void design_attention(Plan& plan);

// Plans over tokens that take a head that is one with the loss through every way of its launch: sizes at the edges of
// chunks, warps and blocks.

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t head_designs = 12;

/// Gives the plan the design with the number `plan.seed % head_designs`: tokens, sizes, the loss's form and kernels.
void design_head(Plan& plan);

// Plans over tokens that take every kernel of a table through every way of its launch: sizes at the edges of warps and
// blocks, by every variant.

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t look_up_designs = 10;

/// Gives the plan the design with the number `plan.seed % look_up_designs`: tokens, sizes and kernels.
void design_look_ups(Plan& plan);

// Plans of ranks that share a micro-step's statistics, in every way and through every way of their kernels' launches:
// rows and features at the edges of lanes, warps, blocks and grids.

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t micro_step_designs = 30;

/// Gives the plan the design with the number `plan.seed % micro_step_designs`: one batch_norm between linear layers, two
/// ranks, what they hand over.
void design_micro_steps(Plan& plan);

// Plans of ranks that take the sum over ranks, and what makes a number travel, through every way of their launch: buckets
// and parameters at the edges of warps, blocks and grids, in every format that travels.

/// How many there are in each storage format. One after another, by seed, takes the whole of it.
inline constexpr std::uint64_t rank_designs = 30;

/// Gives the plan the design with the number `plan.seed % rank_designs`: one linear layer, the buffer's format, buckets.
void design_ranks(Plan& plan);

}  // namespace tally
