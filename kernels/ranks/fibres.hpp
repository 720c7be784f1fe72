// Ranks in one process, each on a stack of its own: one runs until it waits for a message, then another that can.
// No thread of the operating system is involved, so that a run repeats, and the order is drawn.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/ranks/link.hpp"

namespace tally {

/// Runs work(link) for every rank of a group of `ranks`. Which of those that can go on does is the lowest, or drawn from
/// `arrival` where that is not 0. What a rank throws ends the group: the others' waits throw BrokenLink, and it is
/// thrown again once all have ended. Ranks that all wait are a deadlock: every wait throws BrokenLink, whose text says
/// who waits for whom. Where `stages` neighbours are one rank's, messages name them so: "stage 2 of rank 1".
void run_ranks_on_fibres(int ranks, std::uint64_t arrival, const std::function<void(Link& link)>& work, int stages = 1);
/// The rank whose fibre runs on this thread; 0 outside.
int running_rank();

}  // namespace tally
