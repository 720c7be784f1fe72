// Runs another program and waits for it. It is told to end (SIGTERM) when this one dies.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tally::command_line {

/// Its exit status; 128 and more where a signal ended it, as shells count. What it prints goes to standard error, or
/// nowhere. Throws std::runtime_error where it cannot be started. No shell is involved.
int run_child(const std::vector<std::string>& words, bool quiet);

/// Its exit status as above; `line` gets every line that it prints, on standard output and standard error alike.
int run_child(const std::vector<std::string>& words, const std::function<void(const std::string&)>& line);

/// What it prints on standard output, without the last line's end. Throws std::runtime_error unless it ends with 0.
std::string output_of(const std::vector<std::string>& words);

}  // namespace tally::command_line
