// Documents that earlier runs left. Throws UsageError naming the file and what was expected.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally::command_line {

Results results_of(const std::string& file);
Study study_at(const std::string& file);

}  // namespace tally::command_line
