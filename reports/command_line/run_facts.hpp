// run.json: what of a run differs from time to time and machine to machine, kept out of results.json.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace tally::command_line {

class RunFacts {
 public:
  /// The run starts now.
  RunFacts();
  /// Clock, duration, host, command line and the hash of the results, into run.json. Throws std::runtime_error.
  void write(const std::filesystem::path& folder, const std::string& results_json, int exit_code) const;

 private:
  std::chrono::system_clock::time_point started_;
  std::chrono::steady_clock::time_point from_;
};

}  // namespace tally::command_line
