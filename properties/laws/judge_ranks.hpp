// The verdict on a trace of ranks that train together.
#pragma once

#include "properties/laws/judge_grouped.hpp"

namespace tally {

/// judge_grouped() of a case that ranks train: each rank's stages on its own bits, their sums on what all handed over,
/// and everything end to end. Suspects are those of the rank that fails first.
Outcome judge_ranks(const Case& c, const Trace& trace, Grouping grouping);

}  // namespace tally
