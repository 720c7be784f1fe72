#include "reports/command_line/check/progress.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace tally::command_line {

std::string progress_bar(const std::string& line, std::size_t width) {
  const auto slash = line.find('/'), bracket = line.find(']');
  if (!line.starts_with("[") || slash == std::string::npos || bracket == std::string::npos) return line;
  const auto done = std::strtoull(line.c_str() + 1, nullptr, 10);
  const auto all = std::strtoull(line.c_str() + slash + 1, nullptr, 10);
  if (all == 0 || done > all) return line;
  const std::size_t filled = width * done / all;
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " + line.substr(1, bracket - 1) +
         line.substr(bracket + 1);
}

void show_progress(const std::string& line) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) {
    constexpr std::size_t bar = 24, shown = 100;
    std::cerr << "\r\033[K" << progress_bar(line, bar).substr(0, shown) << std::flush;
    const auto slash = line.find('/'), bracket = line.find(']');
    const bool last =
        slash != std::string::npos && line.substr(1, slash - 1) == line.substr(slash + 1, bracket - slash - 1);
    if (last) std::cerr << "\n";
  } else {
    std::cerr << line << "\n";
  }
}

}  // namespace tally::command_line
