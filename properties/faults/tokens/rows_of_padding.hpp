// Rows of padding, as oracle/case/padded.hpp makes them: each a sequence by itself that nobody scores.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// How many rows of padding end with each row of the case in its micro-batch, 0 for a row that is none.
std::vector<std::int64_t> padding_up_to(const Case& c);

}  // namespace tally
