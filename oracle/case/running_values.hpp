// Whose running values a batch_norm of several ranks has: the option `running`.
#pragma once

#include <cstddef>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// Whether the layer says another than the default, "first_rank".
bool says_running(const Layer& layer);
/// Whether every rank of the whole case keeps running values of its own. False where one rank trains.
bool keeps_each_running(const Case& c, const Layer& layer);
/// Whether ranks begin every window with the running values of the first, as DDP hands out its buffers.
bool takes_first_running(const Case& c, const Layer& layer);
/// The layers of one rank, of whose running values nothing is said.
void forget_running(std::vector<Layer>& layers);
/// How many running values of the layer the exact answer has: one, or one for each rank.
std::size_t running_values_of(const Case& c, const Layer& layer);

}  // namespace tally
