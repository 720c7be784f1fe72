// Ways to deal the rows of a window into micro-batches.
#pragma once

#include <vector>

#include "reports/record/vary_runs.hpp"

namespace tally {

/// Those that are tried, each once, the coarsest kinds first: equal ones, a short last one, two uneven ones that are
/// drawn from the seed, single rows. Where the loop takes equal ones alone: all of these. Behind them those of several
/// ranks, so that what one rank does wrong by itself is found there.
std::vector<Partition> partitions_of(const VaryRuns& runs);

/// Nearer to the whole: two neighbours put together. None of the whole itself, and of several ranks.
std::vector<Partition> coarser(const Partition& sizes);

bool is_equal(const Partition& sizes);

}  // namespace tally
