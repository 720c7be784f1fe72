// Options of the commands that look at a baseline or change it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tally::command_line {

/// The options of the commands of `tally baseline` that read alone.
struct BaselineOptions {
  std::string baseline, results;  // results may be empty for show and verify
  std::string law = "*", precision = "*";
  std::string reason, commit;  // of a review
  bool all = false;            // of a diff: every finding
};

/// The baseline alone, as an argument.
void add_baseline(CLI::App& command, std::string& baseline);
void add_results_and_baseline(CLI::App& command, std::string& results, std::string& baseline);
/// --law and --precision, as shell patterns.
void add_filters(CLI::App& command, std::string& law, std::string& precision);

}  // namespace tally::command_line
