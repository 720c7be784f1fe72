// The verdict on a trace whose taps may miss.
// Defined in judge.cpp.
#pragma once

#include "properties/compare/groups.hpp"
#include "properties/laws/judge.hpp"

namespace tally {

/// judge(), where the trace of a step of a user's own need not hold all: `inferred`, as of a capture.
Outcome judge_grouped(const Case& c, const Trace& trace, Grouping grouping);

/// A settled outcome, vacuous where no step took a gradient that is not zero (steps_shown.hpp).
Outcome dead_or(Outcome outcome, const Case& c, const Trace& trace);

}  // namespace tally
