// Suspects for a terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally::command_line {

/// A line a suspect, the likeliest first: its name, its share, its sentence and its formula. Empty for an empty list.
std::string suspect_list(const std::vector<Suspicion>& suspects);

}  // namespace tally::command_line
