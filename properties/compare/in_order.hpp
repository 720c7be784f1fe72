// Checks in the order of the trace's taps.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// Sorted by the place of their tap in the trace; a missing tap stays behind the check made before it.
std::vector<TensorCheck> in_order(const Trace& trace, std::vector<TensorCheck> checks);

}  // namespace tally
