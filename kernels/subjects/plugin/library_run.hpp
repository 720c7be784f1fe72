// One case through a library's training step.
#pragma once

#include <string>

#include "kernels/subjects/plugin/subject.h"
#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// The trace of what it handed over. Throws NotSupported where it declines, StepFailed where it fails, or hands over
/// what no case has. `text`: write_case_beside_tensors(c); `hash`: hash_of(c).
Trace run_library(const tally_step& step, const Case& c, const std::string& text, const std::string& hash);

}  // namespace tally
