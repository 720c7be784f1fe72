// A failed capture judged again under other recipes.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// Whether the capture is small enough to be judged some dozens of times.
bool small_enough_to_restate(const Case& c, const Trace& trace);

/// The restatements that pass inside all their bounds, the least demanding first, where `checks` of the statement fail.
/// Everything that the statement was judged by must pass, nothing of it may have become vacuous or missing, and the
/// error that made the statement fail must be larger than what the restatement's own bounds would let pass. A
/// restatement that explains a part is none.
std::vector<Suspicion> restated_causes(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

}  // namespace tally
