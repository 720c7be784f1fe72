// `tally gate`: stored results against a baseline, or this build against another.
#include "reports/gate/gate.hpp"

#include <filesystem>
#include <future>
#include <iostream>

#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/baseline.hpp"
#include "reports/command_line/verify/old_build.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/gate/bless.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally::command_line::gate_command {
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

int gate_results(const GateOptions& options) {
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

int gate(const GateOptions& options) {
  if (!options.against.empty()) return gate_against(options);
  if (options.results.empty() || options.baseline.empty())
    throw UsageError("gate: expected RESULTS --baseline FILE, or --against with a revision or a build folder");
  return gate_results(options);
}

/// What both builds run.
void add_campaign(CLI::App& command, GateOptions& options, CLI::Option* against) {
  for (CLI::Option* option :
       {command.add_option("--law", options.law, "laws to run, as shell patterns")->capture_default_str(),
        command.add_option("--precision", options.precisions, "storage formats to run"),
        command.add_option("--seed", options.seed, "a number")->capture_default_str(),
        command.add_option("--subject", options.subject, "where the kernels run: host or cuda"),
        command.add_option("--kernel", options.kernels, "OPERATION=VARIANT that this build's runs use")
            ->allow_extra_args(false),
        command
            .add_option("--kernel-in-both", options.kernels_in_both,
                        "OPERATION=VARIANT that the runs of both builds use")
            ->allow_extra_args(false),
        command.add_option("--effort", options.effort, "scale the number of cases")->check(above_zero()),
        command.add_option("--processes", options.processes, "processes on the host")->check(CLI::Range(1, 256)),
        command
            .add_option("--repeat", options.repeat,
                        "pairs of runs, in turn, for the time (3 can decide a kernel's, 5 the whole campaign's)")
            ->check(CLI::Range(1, 1000)),
        command.add_option("--out", options.out, "folder for summary.md"),
        command.add_option("--cache", options.cache,
                           "folder that builds of revisions are kept in (default: against/ in this build's folder)")})
    option->needs(against);
}

void add_options(CLI::App& command, GateOptions& options) {
  auto* results = command.add_option("results", options.results, "results.json of a run");
  auto* baseline = command.add_option("--baseline", options.baseline, "baseline file");
  command
      .add_option("--pending", options.pending, "file for what could be blessed (default: pending.json beside RESULTS)")
      ->needs(baseline);
  command.add_option("--waivers", options.waivers, "file of known failures, each with reason, link and last day");
  command.add_option("--today", options.today, "day that waivers are held against, such as 2027-03-31");
  add_all(command, options.all);
  auto* against = command.add_option("--against", options.against, "revision or build folder to run beside this build");
  against->excludes(results)->excludes(baseline);
  add_campaign(command, options, against);
}

const RegisterCommand registered{{
    .place = 200,
    .name = "gate",
    .help = "compare results with a baseline, or this build with another",
    .bind = with_options(add_options, gate),
}};

}  // namespace
}  // namespace tally::command_line::gate_command
