#include "reports/command_line/progress.hpp"

#include <unistd.h>

#include <iostream>

namespace tally::command_line {

void show_progress(const std::string& line) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) {
    std::cerr << "\r\033[K" << line.substr(0, 100) << std::flush;
    const auto slash = line.find('/'), bracket = line.find(']');
    const bool last =
        slash != std::string::npos && line.substr(1, slash - 1) == line.substr(slash + 1, bracket - slash - 1);
    if (last) std::cerr << "\n";
  } else {
    std::cerr << line << "\n";
  }
}

}  // namespace tally::command_line
