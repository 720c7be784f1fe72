// A case that ranks train together, each its own run.
#pragma once

#include <vector>

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/run.hpp"

namespace tally {

/// Every rank of the case in this process, taps of all of them under their rank's name. Ranks that wait for each other
/// end the run: what was tapped until then stands, and a violation says who waits for whom. Throws as run() does.
Trace run_ranks(const Case& c, const RunOptions& options);

/// The run of one rank of the case, or one stage of its pipeline, its taps under its rank's name. Throws BrokenLink where it cannot go on, and leaves
/// what was tapped until then in `trace`.
void run_rank(const Case& c, Link& link, const RunOptions& options, Trace& trace);

/// The traces of all ranks as one, in running order.
Trace merged_ranks(std::vector<Trace> traces);

}  // namespace tally
