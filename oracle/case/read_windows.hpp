// The windows of a case: sizes of micro-batches, of several ranks each rank's in a list of its own.
#pragma once

#include "oracle/case/case.hpp"
#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"

namespace tally {

/// Fills `windows` and, where a window is a list of lists, `dealt`. A null pointer reads as nothing.
void read_windows(const Json* json, Case& c, Findings& findings);

}  // namespace tally
