// The verdict on a loop that was run with other micro-batches, or what has to be run before there is one.
#pragma once

#include "reports/record/vary_report.hpp"

namespace tally {

VaryReport vary_verdict(const VaryRuns& runs);

}  // namespace tally
