// The verdict on one trace of one case.
#pragma once

#include "properties/laws/outcome.hpp"

namespace tally {

/// Holds the trace against the local and the end-to-end lens; what broke a rule of the machine (a guard zone, a race)
/// fails as `logic`. The first failure gets what its bound is made of, and suspects. Runs nothing.
Outcome judge(const Case& c, const Trace& trace);

}  // namespace tally
