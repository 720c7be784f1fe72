// The verdict on a varied loop for a terminal.
#pragma once

#include <optional>
#include <string>

#include "reports/record/vary_report.hpp"

namespace tally {

/// The first line is the verdict; then what to change, where, and the numbers.
std::string vary_text(const VaryReport& report);

/// How much a distance shrinks from the low precision to the high one; empty where it cannot be told.
std::string ratio_text(const VaryGap& gap, const VaryReport& report);

/// "0.0982", of a gap or a tensor; NaN is "not finite", and nothing where it was not run.
std::string distance_text(std::optional<double> distance);

}  // namespace tally
