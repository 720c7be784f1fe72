// Progress on standard error: one line that moves on a terminal, plain lines elsewhere.
#pragma once

#include <string>

namespace tally::command_line {

void show_progress(const std::string& line);

}  // namespace tally::command_line
