// `tally gate` and `tally bless`: stored results, without running anything.
#include "reports/gate/gate.hpp"

#include <iostream>

#include "reports/command_line/commands.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/gate/bless.hpp"
#include "reports/report.hpp"

namespace tally::command_line {

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

}  // namespace tally::command_line
