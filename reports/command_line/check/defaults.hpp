// Where results are kept when no argument says otherwise.
#pragma once

#include <string>

namespace tally::command_line::defaults {

inline const std::string out = "tally-out";
inline const std::string results = out + "/results.json";

}  // namespace tally::command_line::defaults
