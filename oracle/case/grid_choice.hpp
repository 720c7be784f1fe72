// What `execution.kernels` may ask of every grid, beside the kernels themselves (oracle/case.md).
// Defined in rule_grid_choice.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "oracle/case/case.hpp"

namespace tally {

/// The most blocks of a grid whose kernel strides over it, as a whole number in decimal digits.
inline constexpr std::string_view most_blocks_key = "grid.most_blocks";

/// 0 where the case does not say.
std::int64_t most_blocks_of(const Case& c);

}  // namespace tally
