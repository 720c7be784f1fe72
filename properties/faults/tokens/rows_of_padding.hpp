// Rows of padding, as oracle/case/padded.hpp makes them: each a sequence by itself that nobody scores.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// Of every row of the case: how many rows of padding end with it in its micro-batch, 0 for a row that is none.
std::vector<std::int64_t> padding_up_to(const Case& c);

}  // namespace tally
