// What a run that is not the whole campaign says of launch paths.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally::command_line {

/// How many of its paths ran, for each kernel named as OPERATION=VARIANT, and a warning with those that did not; one
/// line for the others. Empty where the campaign promises to reach all.
std::string launch_path_words(const Results& results, const std::vector<std::string>& kernels);

}  // namespace tally::command_line
