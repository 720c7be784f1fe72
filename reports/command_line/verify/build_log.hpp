// What a build prints: kept in a file, with its progress on standard error.
#pragma once

#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tally::command_line {

/// The share done that a line of ninja ("[12/849] ...") or make ("[ 12%] ...") tells, 0 to 1; below 0 where it tells
/// none.
double share_done(const std::string& line);

class BuildLog {
 public:
  explicit BuildLog(const std::filesystem::path& file);
  /// Whether it ended with 0. On a terminal the line of progress is written over, else one is printed each tenth.
  bool run(const std::vector<std::string>& words);
  /// What was printed last, indented.
  std::string last_lines() const;

 private:
  void take(const std::string& line);
  std::ofstream file_;
  std::deque<std::string> last_;
  bool terminal_;
  int shown_ = -1;
};

}  // namespace tally::command_line
