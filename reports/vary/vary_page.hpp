// A loop that was run with other micro-batches: its page, and the verdict for a terminal. Defined in vary_page.cpp,
// vary_text.cpp.
#pragma once

#include <optional>
#include <string>

#include "reports/record/vary.hpp"

namespace tally {

// The verdict on a varied loop for a terminal.

/// The first line is the verdict; then what to change, where, and the numbers.
std::string vary_text(const VaryReport& report);

/// How much a distance shrinks from the low precision to the high one; empty where it cannot be told.
std::string ratio_text(const VaryGap& gap, const VaryReport& report);

/// "0.0982", of a gap or a tensor; NaN is "not finite", and nothing where it was not run.
std::string distance_text(std::optional<double> distance);

// The page of a loop that was run with other micro-batches.

/// The page of a report that passes or fails: one file that fetches nothing and runs nothing; the same bytes for the
/// same report.
std::string vary_html(const VaryReport& report);

}  // namespace tally
