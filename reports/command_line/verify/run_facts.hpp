// run.json: what of a run differs from time to time and machine to machine, kept out of results.json.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "reports/record/write_together.hpp"

namespace tally::command_line {

class RunFacts {
 public:
  /// The run starts now.
  RunFacts();
  /// run.json: clock, duration, host, command line and the hash of the results. `across`: JSON, who ran what of a
  /// campaign over machines; empty elsewhere.
  FileText file(const std::filesystem::path& folder, const std::string& results_json, int exit_code,
                const std::string& across = "") const;

 private:
  std::chrono::system_clock::time_point started_;
  std::chrono::steady_clock::time_point from_;
};

}  // namespace tally::command_line
