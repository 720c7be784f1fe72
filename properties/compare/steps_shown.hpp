// What a run that is right in everything it did has not shown all the same: windows that were skipped, and gradients
// of nothing.
#pragma once

#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// Why a run whose checks pass is vacuous: every gradient that a step took is exactly zero, by the end-to-end lens or as
/// no row of these windows counts; which windows were skipped, and that none counts. Empty where it is not.
std::string dead_steps(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

/// Where every window was skipped: "unscale, clip and the optimizer's step", what the recipe would have done; else empty.
std::string steps_not_taken(const Case& c, const Trace& trace);

}  // namespace tally
