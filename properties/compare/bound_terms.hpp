// What the bounds of the checks that matter are made of.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// The checks that a record keeps, by index, worst first: five of a list with failures, else the nearest to its limit.
std::vector<std::size_t> worst_of(const std::vector<TensorCheck>& checks);

/// Fills in TensorCheck::terms of the worst and of the first failing check, where a lens made them from this trace and
/// their bound is neither 0 nor infinite. `checks` holds those of the local lens, whatever else. Calls the rules up to
/// those taps again, and judges these alone.
void split_bounds(const Case& c, const Trace& trace, std::vector<TensorCheck>& checks);

}  // namespace tally
