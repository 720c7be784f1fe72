// From a failing check to a ranked list of known bugs.
#pragma once

#include <vector>

#include "kernels/subject/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// What the first failing check looks like, the likeliest first: a few, and all that are as good as the first. A
/// suspect is listed only if it explains at least half of the squared error, and chance alone (explained.hpp) would do
/// as well less than once in a thousand diagnoses, all suspects tried together. Ranked by share, as far as rounding
/// lets it be told; then fewer fitted numbers; then by name. Empty when nothing fails, nothing fits, or the failing
/// check has no tensor in this trace.
std::vector<Suspicion> diagnose(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

}  // namespace tally
