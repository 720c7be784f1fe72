// The factor of a loss where a subject never makes it.
#pragma once

#include "oracle/tolerance/expected.hpp"

namespace tally {

/// c folded into other constants of the loss, as fl(2 / (n F)) and fl(1 / K) are: each side of the comparison is within
/// two roundings to fp32 of the exact c.
oracle::Expected folded(oracle::Expected factor);

}  // namespace tally
