// `tally gate`, `tally bless` and `tally report`: stored results, without running anything.
#include "reports/gate/gate.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "reports/command_line/commands.hpp"
#include "reports/gate/bless.hpp"
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

Baseline baseline_at(const std::string& file) {
  try {
    return read_baseline(file);
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
}

}  // namespace

int gate(const GateOptions& options) {
  const Results results = results_of(options.results);
  const GateReport found = tally::gate(results, baseline_at(options.baseline));
  std::cout << gate_text(found);
  return found.exit_code;
}

int bless(const BlessOptions& options) {
  const Results results = results_of(options.results);
  tally::BlessOptions how;
  how.reason = options.reason;
  how.allow_ci = options.allow_ci;
  try {
    const BlessReport done = tally::bless(results, options.baseline, how);
    std::cout << options.baseline << ": " << done.added << " added, " << done.changed << " changed, " << done.removed
              << " removed, " << done.unchanged << " unchanged\n";
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
  return pass;
}

int report(const ReportOptions& options) {
  const Results results = results_of(options.results);
  const auto beside = std::filesystem::path(options.results).parent_path();
  write_report(results, options.out.empty() ? (beside.empty() ? "." : beside) : std::filesystem::path(options.out));
  std::cout << verdict_sentence(results) << "\n";
  return pass;
}

}  // namespace tally::command_line
