// The seed of every run that names none: of campaigns, studies and the command line.
#pragma once

#include <cstdint>

namespace tally {

inline constexpr std::uint64_t default_seed = 20240917;

}  // namespace tally
