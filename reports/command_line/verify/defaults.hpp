// What a command takes where its arguments say nothing.
#pragma once

#include <string>

#include "properties/generators/default_seed.hpp"
#include "reports/command_line/check/defaults.hpp"

namespace tally::command_line::defaults {

inline const std::string seed = std::to_string(default_seed);
inline const std::string kernel_out = out + "/kernel";  // below it a folder for each subject
inline const std::string case_time = "2m";
inline constexpr int processes = 2;
inline constexpr double effort = 0;  // stands for TALLY_EFFORT, or 1

}  // namespace tally::command_line::defaults
