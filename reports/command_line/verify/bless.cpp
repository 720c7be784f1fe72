#include "reports/command_line/verify/bless.hpp"

#include <iostream>

#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/tree.hpp"
#include "reports/command_line/verify/baseline_options.hpp"
#include "reports/command_line/verify/stored.hpp"
#include "reports/gate/pending.hpp"

namespace tally::command_line {
namespace {

void add_what(CLI::App& command, BlessOptions& options) {
  add_results_and_baseline(command, options.results, options.baseline);
  add_filters(command, options.law, options.precision);
  command.add_option("--case", options.cases, "id of a case; may be given again")->allow_extra_args(false);
}

void add_allow_ci(CLI::App& command, BlessOptions& options) {
  command.add_flag("--allow-ci", options.allow_ci, "write even where CI is set");
}

/// Blesses what the gate's own document holds, without the results.
BlessReport bless_file(const BlessOptions& options, const tally::BlessOptions& how) {
  if (options.change != tally::bless) throw UsageError(options.results + ": expected the results.json of a run");
  tally::BlessOptions as_run = how;
  as_run.commit = options.commit;  // else that of the run, which the document has
  return bless_pending(read_baseline(options.results), options.baseline, as_run);
}

}  // namespace

void add_change(CLI::App& command, BlessOptions& options) {
  add_what(command, options);
  add_allow_ci(command, options);
}

void add_change_with_reason(CLI::App& command, BlessOptions& options) {
  add_what(command, options);
  command.add_option("--reason", options.reason, "why the change is right")->required();
  command.add_option("--commit", options.commit, "commit of the run (default: this program's)");
  add_allow_ci(command, options);
}

int bless(const BlessOptions& options) {
  tally::BlessOptions how;
  how.reason = options.reason;
  how.commit = options.commit.empty() ? tree() : options.commit;
  how.law = options.law, how.precision = options.precision, how.cases = options.cases;
  how.allow_ci = options.allow_ci;
  try {
    const BlessReport report = is_pending(options.results)
                                   ? bless_file(options, how)
                                   : options.change(results_of(options.results), options.baseline, how);
    std::cout << options.baseline << ": " << text_of(report) << "\n";
  } catch (const UsageError&) {
    throw;
  } catch (const NotWritten&) {
    throw;
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
  return pass;
}

}  // namespace tally::command_line
