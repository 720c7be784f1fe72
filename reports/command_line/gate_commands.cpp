#include "reports/command_line/gate_commands.hpp"

#include "reports/command_line/commands.hpp"

namespace tally::command_line {
namespace {

/// What both builds run.
void add_campaign(CLI::App& command, GateOptions& options, CLI::Option* against) {
  for (CLI::Option* option :
       {command.add_option("--law", options.law, "laws to run, as a shell pattern")->capture_default_str(),
        command.add_option("--precision", options.precisions, "storage formats to run"),
        command.add_option("--seed", options.seed, "a number")->capture_default_str(),
        command.add_option("--subject", options.subject, "where the kernels run: host or cuda"),
        command.add_option("--kernel", options.kernels, "OPERATION=VARIANT that this build's runs use")
            ->allow_extra_args(false),
        command.add_option("--effort", options.effort, "scale the number of cases")->check(CLI::PositiveNumber),
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

void add_gate(CLI::App& app, Action& action) {
  static GateOptions options;
  CLI::App& command = *app.add_subcommand("gate", "hold results against a baseline, or this build against another");
  auto* results = command.add_option("results", options.results, "results.json of a run");
  auto* baseline = command.add_option("--baseline", options.baseline, "baseline file");
  command
      .add_option("--pending", options.pending, "file for what could be blessed (default: pending.json beside RESULTS)")
      ->needs(baseline);
  command.add_option("--waivers", options.waivers, "file of known failures, each with reason, link and last day");
  command.add_option("--today", options.today, "day that waivers are held against, such as 2027-03-31");
  command.add_flag("--all", options.all, "every kernel, law and case, not what fits on a screen");
  auto* against = command.add_option("--against", options.against, "revision or build folder to run beside this build");
  against->excludes(results)->excludes(baseline);
  add_campaign(command, options, against);
  command.callback([&action] {
    action = [] {
      if (!options.against.empty()) return gate_against(options);
      if (options.results.empty() || options.baseline.empty())
        throw UsageError("gate: expected RESULTS --baseline FILE, or --against with a revision or a build folder");
      return gate(options);
    };
  });
}

void add_results_and_baseline(CLI::App& command, std::string& results, std::string& baseline) {
  command
      .add_option("results", results,
                  "results.json of a run; of bless and review also the pending.json that the gate left")
      ->required();
  command.add_option("--baseline", baseline, "baseline file")->required();
}

void add_filters(CLI::App& command, std::string& law, std::string& precision) {
  command.add_option("--law", law, "laws, as a shell pattern")->capture_default_str();
  command.add_option("--precision", precision, "storage formats, as a shell pattern")->capture_default_str();
}

void add_writing(CLI::App& command, BlessOptions& options, bool with_reason) {
  add_results_and_baseline(command, options.results, options.baseline);
  add_filters(command, options.law, options.precision);
  command.add_option("--case", options.cases, "id of a case; may be given again")->allow_extra_args(false);
  if (with_reason) {
    command.add_option("--reason", options.reason, "why the change is right")->required();
    command.add_option("--commit", options.commit, "commit of the run (default: this program's)");
  }
  command.add_flag("--allow-ci", options.allow_ci, "write even where CI is set");
}

void add_bless(CLI::App& app, Action& action) {
  static BlessOptions options;
  CLI::App& command = *app.add_subcommand("bless", "make results the new baseline, with a reason");
  add_writing(command, options, true);
  command.callback([&action] { action = [] { return bless(options); }; });
}

/// The same, but everything at once only when asked for twice.
void add_baseline_bless(CLI::App& baseline, Action& action) {
  static BlessOptions options;
  static bool all = false, yes = false;
  CLI::App& command = *baseline.add_subcommand("bless", "accept what the filters name");
  add_writing(command, options, true);
  command.add_flag("--all", all, "accept everything; wants --yes too");
  command.add_flag("--yes", yes, "do not refuse --all");
  command.callback([&action] {
    action = [] {
      const bool filtered = options.law != "*" || options.precision != "*" || !options.cases.empty();
      if (filtered == all)
        throw UsageError("baseline bless: expected either --law, --precision or --case, or --all --yes");
      if (all && !yes) throw UsageError("baseline bless: --all accepts every change; expected --yes with it");
      return bless(options);
    };
  });
}

void add_baseline_changes(CLI::App& baseline, Action& action) {
  static BlessOptions gone, better;
  CLI::App& prune = *baseline.add_subcommand("prune", "take out what the results do not have any more");
  add_writing(prune, gone, false);
  gone.change = tally::prune;
  prune.callback([&action] { action = [] { return bless(gone); }; });
  CLI::App& tighten = *baseline.add_subcommand("tighten", "accept what became better alone");
  add_writing(tighten, better, true);
  better.change = tally::tighten;
  tighten.callback([&action] { action = [] { return bless(better); }; });
}

void add_baseline_views(CLI::App& baseline, Action& action) {
  static BaselineOptions options;
  CLI::App& show = *baseline.add_subcommand("show", "what is blessed, since which commit, and why");
  show.add_option("baseline", options.baseline, "baseline file")->required();
  add_filters(show, options.law, options.precision);
  show.callback([&action] { action = [] { return baseline_show(options); }; });
  CLI::App& verify = *baseline.add_subcommand("verify", "whether the file is whole, sorted and as Tally wrote it");
  verify.add_option("baseline", options.baseline, "baseline file")->required();
  verify.callback([&action] { action = [] { return baseline_verify(options); }; });
  CLI::App& diff = *baseline.add_subcommand("diff", "what results change; exit code 1 where they do");
  add_results_and_baseline(diff, options.results, options.baseline);
  diff.add_flag("--all", options.all, "every kernel, law and case, not what fits on a screen");
  diff.callback([&action] { action = [] { return baseline_diff(options); }; });
  CLI::App& review =
      *baseline.add_subcommand("review", "show what could be blessed; with a reason accept or reject it on a terminal");
  add_results_and_baseline(review, options.results, options.baseline);
  review.add_option("--reason", options.reason, "why the accepted changes are right (default: show them alone)");
  review.add_option("--commit", options.commit, "commit of the run (default: this program's)");
  review.callback([&action] { action = [] { return baseline_review(options); }; });
}

void add_compare(CLI::App& app, Action& action) {
  static CompareOptions options;
  CLI::App& command = *app.add_subcommand(
      "compare", "two runs case by case; exit code 1 where laws break or accuracy is worse in the second");
  command.add_option("before", options.before, "results.json of the first, or its folder")->required();
  command.add_option("now", options.now, "results.json of the second, or its folder")->required();
  command.add_option("--out", options.out, "folder for summary.md");
  command.add_flag("--all", options.all, "every kernel, law and case, not what fits on a screen");
  command.callback([&action] { action = [] { return compare(options); }; });
}

void add_history(CLI::App& app, Action& action) {
  static HistoryOptions options;
  CLI::App& history = *app.add_subcommand("history", "a file of what runs came to, one line each");
  history.require_subcommand(1);
  CLI::App& add = *history.add_subcommand("add", "add a run; one that stands there already is not added again");
  add.add_option("results", options.results, "results.json of a run")->required();
  add.add_option("--history", options.history, "history file, NAME.jsonl")->required();
  add.add_option("--commit", options.commit, "commit of the run (default: this program's)");
  add.callback([&action] { action = [] { return history_add(options); }; });
  CLI::App& show = *history.add_subcommand("show", "all runs as a table");
  show.add_option("history", options.history, "history file, NAME.jsonl")->required();
  show.callback([&action] { action = [] { return history_show(options); }; });
}

}  // namespace

void add_gate_commands(CLI::App& app, Action& action) {
  add_gate(app, action);
  add_bless(app, action);
  CLI::App& baseline = *app.add_subcommand("baseline", "look at a baseline, hold results beside it, change it");
  baseline.require_subcommand(1);
  add_baseline_views(baseline, action);
  add_baseline_bless(baseline, action);
  add_baseline_changes(baseline, action);
  add_compare(app, action);
  add_history(app, action);
}

}  // namespace tally::command_line
