// Delta debugging of a schedule: the few choices that matter.
#pragma once

#include <functional>
#include <vector>

#include "oracle/case/preemption.hpp"

namespace tally::executor {

/// A part of `all` that still `fails`, and none of whose entries alone can be left out; `all` itself where nothing
/// smaller fails. Asks at most `attempts` times.
std::vector<Preemption> fewest_preemptions(std::vector<Preemption> all, int attempts,
                                           const std::function<bool(const std::vector<Preemption>&)>& fails);

}  // namespace tally::executor
