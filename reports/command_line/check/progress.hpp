// Progress on standard error: one line that moves on a terminal, plain lines elsewhere.
#pragma once

#include <string>

namespace tally::command_line {

/// "[3/12] title" as "[######..................] 3/12 title", the bar `width` wide; other lines as they are.
std::string progress_bar(const std::string& line, std::size_t width);

void show_progress(const std::string& line);

}  // namespace tally::command_line
