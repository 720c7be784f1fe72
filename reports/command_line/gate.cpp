// `tally gate` and `tally bless`: stored results, without running anything.
#include "reports/gate/gate.hpp"

#include <future>
#include <iostream>

#include "reports/command_line/commands.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/command_line/tree.hpp"
#include "reports/gate/bless.hpp"

namespace tally::command_line {

int gate(const GateOptions& options) {
  auto baseline = std::async(std::launch::async, [&] { return baseline_at(options.baseline); });
  const Results results = results_of(options.results);
  GateContext context;
  if (!options.waivers.empty()) context.waivers = waivers_at(options.waivers);
  if (!options.today.empty() && !is_day(options.today))
    throw UsageError("--today: '" + options.today + "'; expected a day such as 2027-03-31");
  context.today = options.today;
  const GateReport found = tally::gate(results, baseline.get(), context);
  std::cout << gate_text(found);
  return found.exit_code;
}

int bless(const BlessOptions& options) {
  const Results results = results_of(options.results);
  tally::BlessOptions how;
  how.reason = options.reason;
  how.commit = options.commit.empty() ? tree() : options.commit;
  how.law = options.law, how.precision = options.precision, how.cases = options.cases;
  how.allow_ci = options.allow_ci;
  try {
    std::cout << options.baseline << ": " << text_of(options.change(results, options.baseline, how)) << "\n";
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
  return pass;
}

}  // namespace tally::command_line
