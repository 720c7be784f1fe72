// What the stages of a pipeline left, as one trace.
// Defined in merged_stages.cpp.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// The traces of all stages, in the order in which one process with the whole model goes through a window: micro-batch by
/// micro-batch, part by part forward and back. Where micro-batches go back last first, all forward first.
Trace merged_stages(const Case& c, std::vector<Trace> traces);

}  // namespace tally
