// The factor of a loss where a subject never makes it.
#pragma once

#include <cstdint>

#include "oracle/tolerance/expected.hpp"

namespace tally {

/// c folded into other constants of the loss, as fl(2 / (n F)) and fl(1 / K) are: each side of the comparison is within
/// two roundings to fp32 of the exact c.
oracle::Expected folded(oracle::Expected factor);

/// dy of such a loss over `rows` rows: what was folded in first may have fallen below the normal range, and is then
/// multiplied by the rest of c, by at most |c| rows.
oracle::Expected of_folded(oracle::Expected dy, const oracle::Expected& factor, std::int64_t rows);

}  // namespace tally
