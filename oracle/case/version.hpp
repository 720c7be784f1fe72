// The version of a case file: 1, 2 where the case uses what came with layers that read each other and with tokens, or 3
// where ranks train together.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/case/case.hpp"

namespace tally {

inline constexpr std::int64_t newest_version = 3;

/// The least version that holds this case, which is the one that it is written in.
std::int64_t version_of(const Case& c);

/// What of it the first version does not hold: "a layer names its inputs". Empty where that version does.
std::string what_needs_version(const Case& c);

}  // namespace tally
