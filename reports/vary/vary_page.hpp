// The page of a loop that was run with other micro-batches.
#pragma once

#include <string>

#include "reports/record/vary_report.hpp"

namespace tally {

/// The page of a report that passes or fails: one file that fetches nothing and runs nothing; the same bytes for the
/// same report.
std::string vary_html(const VaryReport& report);

}  // namespace tally
