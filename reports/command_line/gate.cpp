// `tally gate`, `tally bless` and `tally report`: stored results, without running anything.
#include "reports/gate/gate.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "reports/command_line/commands.hpp"
#include "reports/report.hpp"

namespace tally::command_line {
namespace {

Results results_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UsageError(file + " cannot be read; expected the results.json of a run");
  std::ostringstream text;
  text << stream.rdbuf();
  try {
    return results_of_json(text.str());
  } catch (const std::runtime_error& problem) {
    throw UsageError(file + ": " + problem.what());
  }
}

}  // namespace

int report(const ReportOptions& options) {
  const Results results = results_of(options.results);
  const auto beside = std::filesystem::path(options.results).parent_path();
  write_report(results, options.out.empty() ? (beside.empty() ? "." : beside) : std::filesystem::path(options.out));
  std::cout << verdict_sentence(results) << "\n";
  return pass;
}

}  // namespace tally::command_line
