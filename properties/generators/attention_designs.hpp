// Sizes that take attention's kernels every way of their launches, for a law of its own.
#pragma once

#include <cstdint>

#include "properties/generators/plan.hpp"

namespace tally {

/// As many seeds in a row take every way in a precision.
inline constexpr std::uint64_t attention_designs = 35;

void design_attention(Plan& plan);

}  // namespace tally
