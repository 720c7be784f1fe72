// `tally gate` and `tally bless`: stored results, without running anything.
#include "reports/gate/gate.hpp"

#include <filesystem>
#include <future>
#include <iostream>

#include "reports/command_line/commands.hpp"
#include "reports/command_line/kernel_file.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/command_line/tree.hpp"
#include "reports/gate/pending.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/shell.hpp"

namespace tally::command_line {

namespace {

namespace fs = std::filesystem;

fs::path pending_file(const GateOptions& options) {
  return options.pending.empty() ? fs::path(options.results).parent_path() / "pending.json" : fs::path(options.pending);
}

/// A file that is there and that no gate left is somebody's own: it is neither written over nor taken away.
void require_own(const fs::path& file, const std::string& baseline) {
  std::error_code absent;
  if (!fs::exists(file, absent)) return;
  if (fs::equivalent(file, baseline, absent))
    throw UsageError("--pending: " + file.string() + " is the baseline; expected another file: --pending FILE");
  const std::string expected = "; expected the pending.json of a gate, or no file: --pending FILE";
  if (!is_pending(file.string())) throw UsageError(file.string() + " is no pending.json" + expected);
  if (!is_left_by_gate(baseline_at(file.string()))) throw UsageError(file.string() + " is a baseline" + expected);
}

/// A baseline to hold results against: what a gate left has nobody's word yet.
Baseline blessed_at(const std::string& file) {
  Baseline baseline = baseline_at(file);
  if (is_left_by_gate(baseline))
    throw UsageError("--baseline: " + file + " is what a gate left to be blessed; expected a baseline: ./tally bless " +
                     shell_word(file) + " --baseline FILE --reason \"...\"");
  return baseline;
}

/// Leaves what could be blessed in a file, and says so; takes away an older one where there is nothing.
std::string left_pending(const GateOptions& options, const Results& results, const Baseline& baseline) {
  const fs::path file = pending_file(options);
  const Baseline pending = pending_of(results, baseline, tree());
  if (pending.cases.empty() && pending.faults.empty() && pending.replaced.empty()) {
    std::error_code absent_or_kept;
    if (fs::is_regular_file(fs::symlink_status(file, absent_or_kept))) fs::remove(file, absent_or_kept);
    return "";
  }
  try {
    write_atomically(file.string(), to_json(pending));
  } catch (const std::runtime_error& problem) {
    return std::string("nothing is left to be blessed: ") + problem.what() + "\n";
  }
  return "to accept " + counted(pending.cases.size(), "case") + ": ./tally bless " + shell_word(file.string()) +
         " --baseline " + shell_word(options.baseline) + " --reason \"...\"\n";
}

/// Of the gate's own document, without the results.
BlessReport bless_file(const BlessOptions& options, const tally::BlessOptions& how) {
  if (options.change != tally::bless) throw UsageError(options.results + ": expected the results.json of a run");
  tally::BlessOptions as_run = how;
  as_run.commit = options.commit;  // else that of the run, which the document has
  return bless_pending(read_baseline(options.results), options.baseline, as_run);
}

}  // namespace

int gate(const GateOptions& options) {
  auto baseline = std::async(std::launch::async, [&] { return blessed_at(options.baseline); });
  const Results results = results_of(options.results);
  GateContext context;
  if (!options.waivers.empty()) context.waivers = waivers_at(options.waivers);
  if (!options.today.empty() && !is_day(options.today))
    throw UsageError("--today: '" + options.today + "'; expected a day such as 2027-03-31");
  context.today = options.today;
  const Baseline blessed = baseline.get();
  require_own(pending_file(options), options.baseline);
  const GateReport found = tally::gate(results, blessed, context);
  std::cout << gate_text(found, {{file_of, options.all}, left_pending(options, results, blessed)});
  return found.exit_code;
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
