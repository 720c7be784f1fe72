// The program `tally`: reads the arguments and turns every exception into one message and an exit code.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "kernels/device/device.hpp"
#include "oracle/case/io.hpp"
#include "oracle/window/answer.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/gate_commands.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/own_process.hpp"
#include "reports/text/utf8.hpp"

namespace tally::command_line {
namespace {

int finished(const Action& action);

void add_subject(CLI::App& command, SubjectOptions& options) {
  command
      .add_option(
          "--subject", options.subject,
          "where the kernels run: host, cuda or checked, the host with a race checker (default: the best there is)")
      ->check(CLI::IsMember({"host", "cuda", "checked"}));
  command.add_option("--fault", options.fault, "run with this seeded fault (./tally list faults)");
  command.add_option("--magnitude", options.magnitude,
                     "how much of the fault to plant, from 0 (none) to 1 (all of it)");
  command
      .add_option("--kernel", options.kernels,
                  "OPERATION=VARIANT to run in place of the shipped one (./tally list kernels)")
      ->allow_extra_args(false);
}

void add_verify(CLI::App& app, Action& action) {
  static VerifyOptions options;
  CLI::App& command = *app.add_subcommand("verify", "run the campaign and write its report");
  add_subject(command, options.subject);
  command.add_option("--law", options.law, "laws to run, as a shell pattern")->capture_default_str();
  command.add_option("--precision", options.precisions, "storage formats to run")
      ->delimiter(',')
      ->capture_default_str();
  auto* effort =
      command.add_option("--effort", options.effort, "scale the number of cases (default: TALLY_EFFORT or 1)");
  effort->check(CLI::PositiveNumber);
  command.add_option("--cases", options.cases, "cases per law and precision")
      ->check(CLI::PositiveNumber)
      ->excludes(effort);
  command.add_option("--time", options.time, "stop drawing after this long, such as 60s or 2m");
  command.add_option("--case-time", options.case_time, "a case that takes longer is an error")->capture_default_str();
  command.add_option("--shard", options.shard, "run one part of the campaign, such as 2/4 (see ./tally merge)");
  command.add_option("--seed", options.seed, "a number, or 'random'")->capture_default_str();
  command.add_option("--out", options.out, "folder for the results")->capture_default_str();
  command.add_option("--corpus", options.corpus, "folder of failing cases, replayed first (default: OUT/corpus)");
  command.add_option("--processes", options.processes, "processes on the host")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.add_flag("--no-training", options.no_training, "leave out the digits and tutorial trainings");
  command.add_option("--kernel-times", options.kernel_times,
                     "file that the times of every case's kernels are added to");
  command.add_flag("--unsteered", options.unsteered,
                   "draw every case from the seed alone, so that other kernels are shown the same ones");
  command.add_flag("--keep-going", options.keep_going, "draw all cases of a law, also after one of them failed");
  command.add_flag("--no-shrink", options.no_shrink, "record failing cases as drawn, without making them smaller");
  command.add_flag("--json", options.json, "print results.json instead of the summary");
  command.callback([&action] { action = [] { return verify(options); }; });
}

void add_kernel(CLI::App& app, Action& action) {
  static KernelOptions options;
  CLI::App& command = *app.add_subcommand(
      "kernel", "one kernel under every law, on the host and again with its accesses to memory watched");
  command.add_option("kernel", options.kernel, "OPERATION=VARIANT (./tally list kernels)")->required();
  command.add_option("--effort", options.effort, "scale the number of cases (default: TALLY_EFFORT or 1)")
      ->check(CLI::PositiveNumber);
  command.add_option("--out", options.out, "folder for the results of both")->capture_default_str();
  command.add_option("--processes", options.processes, "processes on the host")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.callback([&action] { action = [] { return kernel(options); }; });
}

void add_replay(CLI::App& app, Action& action) {
  static ReplayOptions options;
  CLI::App& command = *app.add_subcommand("replay", "run one case again and show every stage");
  add_subject(command, options.subject);
  command.add_option("case", options.what, "a token (tly1:…) or a case file")->required();
  command.add_option("--law", options.law, "the law to hold it to");
  command.add_option("--dump", options.dump, "folder for the case and its trace");
  command.callback(
      [&action] { action = [] { return in_own_process([] { return finished([] { return replay(options); }); }); }; });
}

void add_check(CLI::App& app, Action& action) {
  static CheckOptions options;
  CLI::App& command = *app.add_subcommand("check", "judge a recorded trace of a case");
  command.add_option("case", options.case_file, "case file")->required();
  command.add_option("trace", options.trace_file, "trace, a safetensors file")->required();
  command.callback([&action] { action = [] { return check(options); }; });
}

void add_oracle(CLI::App& app, Action& action) {
  static OracleOptions options;
  CLI::App& command = *app.add_subcommand("oracle", "print the exact answer to a case");
  command.add_option("case", options.case_file, "case file")->required();
  command.add_option("--digits", options.digits, "significant digits")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  command.add_option("--out", options.out, "file to write instead of standard output");
  command.callback([&action] { action = [] { return oracle(options); }; });
}

void add_faults(CLI::App& app, Action& action) {
  static FaultsOptions options;
  CLI::App& command = *app.add_subcommand("faults", "run every seeded fault: caught, by which law, at which stage");
  command.add_option("--subject", options.subject.subject, "where the kernels run")
      ->check(CLI::IsMember({"host", "cuda", "checked"}));
  command.add_option("names", options.names, "faults to run (default: all)");
  command.add_option("--magnitude", options.subject.magnitude,
                     "how much of the faults named to plant, from 0 (none) to 1 (all of it)");
  command.add_flag("--json", options.json, "print one JSON document");
  command.add_option("--processes", options.processes, "processes on the host")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.callback([&action] { action = [] { return faults(options); }; });
}

void add_explain(CLI::App& app, Action& action) {
  static ExplainOptions options;
  CLI::App& command = *app.add_subcommand("explain", "say in words what a case, a law, a fault or a suspect is about");
  command.add_option("what", options.what, "the id of a case, or the name of a law, a fault or a suspect")->required();
  command.add_option("--results", options.results, "results.json that holds the case")->capture_default_str();
  command.callback([&action] { action = [] { return explain(options); }; });
}

void add_report(CLI::App& app, Action& action) {
  static ReportOptions options;
  CLI::App& command = *app.add_subcommand("report", "render results again");
  command.add_option("results", options.results, "results.json of a run")->required();
  command.add_option("--out", options.out, "folder to write to (default: beside the results)");
  command.add_option("--study", options.studies, "NAME.json of a study to show in place of the kept one of its name");
  command.add_option("--baseline", options.baseline, "baseline file to compare with on the page");
  command.add_option("--history", options.history,
                     "history (.jsonl) or results.json of earlier runs, the oldest first");
  command.callback([&action] { action = [] { return report(options); }; });
}

void add_merge(CLI::App& app, Action& action) {
  static MergeOptions options;
  CLI::App& command = *app.add_subcommand("merge", "join the results of all shards of a campaign");
  command.add_option("shards", options.shards, "results.json of each shard, or its folder")->required();
  command.add_option("--out", options.out, "folder for the report")->capture_default_str();
  command.callback([&action] { action = [] { return merge(options); }; });
}

void add_study(CLI::App& app, Action& action, const std::string& family, const std::string& what) {
  static std::map<std::string, StudyCommand> commands;
  StudyCommand& options = commands[family];
  options.family = family;
  CLI::App& command = *app.add_subcommand(family, what);
  add_subject(command, options.subject);
  command.add_option("name", options.name, "which one (./tally list " + family + (family == "bench" ? "es)" : "s)"));
  command.add_option("--effort", options.effort, "scale the number of cases (default: TALLY_EFFORT or 1)")
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", options.seed, "a number, or 'random'")->capture_default_str();
  command.add_option("--out", options.out, "folder for NAME.json, NAME.html and NAME.md")->capture_default_str();
  command.add_option("--processes", options.processes, "processes on the host")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.add_flag("--json", options.json, "print the document instead of the tables");
  command.callback([&action, &options] { action = [&options] { return study(options); }; });
}

void add_list_and_doctor(CLI::App& app, Action& action) {
  static std::string what;
  CLI::App& listing =
      *app.add_subcommand("list", "list laws, faults, triggers, options, paths, kernels, subjects, sweeps or benches");
  listing.add_option("what", what)
      ->required()
      ->check(CLI::IsMember(
          {"laws", "faults", "triggers", "options", "paths", "kernels", "subjects", "sweeps", "benches"}));
  listing.callback([&action] { action = [] { return list(what); }; });
  static std::string probed, order;
  CLI::App& doctor_command = *app.add_subcommand("doctor", "say what there is to run on");
  doctor_command.add_option("--probe", probed, "ask a subject's GEMM and atomics how they round: host or cuda")
      ->check(CLI::IsMember({"host", "cuda"}));
  doctor_command.add_option("--order", order,
                            "with --probe host: ask its GEMM in this order, such as tensor_core_h100");
  doctor_command.callback([&action] { action = [] { return doctor(probed, order); }; });
}

int say(const std::exception& problem, int code) {
  std::cerr << "error: " << message_line(problem.what()) << "\n";
  return code;
}

/// Runs the chosen command; every kind of trouble has its exit code.
int run_action(const Action& action) {
  try {
    return action();
  } catch (const DeviceAbsent& problem) {
    return say(problem, absent);
  } catch (const InvalidCase& problem) {
    return say(problem, usage);
  } catch (const UsageError& problem) {
    return say(problem, usage);
  } catch (const std::invalid_argument& problem) {
    return say(problem, usage);
  } catch (const std::bad_alloc&) {
    return say(std::runtime_error("the memory does not suffice; expected a smaller input, or more memory"),
               environment);
  } catch (const oracle::NotCertified& problem) {
    return say(problem, environment);
  } catch (const std::exception& problem) {
    return say(problem, environment);
  }
}

/// A full disk behind standard output is found when it is written, at the latest here.
int when_written(int code) {
  if (std::cout.flush() && std::fflush(stdout) == 0) return code;
  std::cerr << "error: standard output cannot be written; expected room for what the command prints\n";
  return environment;
}

/// Run, and all of its output written.
int finished(const Action& action) { return when_written(run_action(action)); }

}  // namespace
}  // namespace tally::command_line

int main(int argc, char** argv) {
  using namespace tally::command_line;
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not the end of the program
  CLI::App app("tally: do the accumulated micro-batches give the update of the full batch?", "tally");
  app.set_version_flag("--version", "tally " TALLY_VERSION);
  app.require_subcommand(1);
  app.footer(
      "`./tally test` builds the project and runs its own tests.\n"
      "Exit codes: 0 pass, 1 failed, 2 usage or input error, 3 environment or internal error,\n"
      "4 nothing ran or all of it vacuous, 5 only unblessed new cases, 77 device absent, 130 interrupted.");
  Action action;
  add_verify(app, action);
  add_kernel(app, action);
  add_replay(app, action);
  add_check(app, action);
  add_oracle(app, action);
  add_faults(app, action);
  add_explain(app, action);
  add_gate_commands(app, action);
  add_report(app, action);
  add_merge(app, action);
  add_study(app, action, "sweep", "study how far gradients drift against one quantity");
  add_study(app, action, "bench", "measure Tally's own rules against others");
  add_list_and_doctor(app, action);
  const VisibleOutput shown;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    std::ostringstream said;
    const bool asked = app.exit(problem, std::cout, said) == 0;
    std::cerr << tally::visible(said.str());
    return asked ? pass : usage;
  }
  return finished(action);
}
