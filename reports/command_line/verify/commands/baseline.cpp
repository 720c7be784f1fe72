// `tally baseline`: its commands, from what is blessed to what could be.
#include "reports/command_line/verify/baseline.hpp"

#include <fnmatch.h>

#include <iostream>
#include <map>

#include "reports/census/census.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/gate/gate.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"

// `tally baseline`: what its commands are about.
namespace tally::command_line::baseline_command {
namespace {

const RegisterCommand registered{{
    .place = 220,
    .name = "baseline",
    .help = "show a baseline, compare results with it, change it",
}};

}  // namespace
}  // namespace tally::command_line::baseline_command

// `tally baseline show`: what is blessed.
namespace tally::command_line::baseline_show_command {
namespace {

struct Row {
  std::uint64_t cases = 0, vacuous = 0;
  double worst = 0;
};

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string blessings_text(const Baseline& baseline) {
  std::vector<std::vector<std::string>> rows{{"Blessing", "Commit", "Machine", "Campaign", ">Cases", "Reason"}};
  for (const Blessing& b : baseline.blessings) {
    std::uint64_t cases = 0;
    for (const BlessedCase& c : baseline.cases) cases += c.blessing == b.key;
    rows.push_back(
        {b.key, b.commit, b.machine.device + "; " + b.machine.toolchain,
         b.drawn.campaign + ", seed " + std::to_string(b.drawn.seed) + ", effort " + shortest(b.drawn.effort),
         grouped(cases), b.reason});
  }
  return columns(rows);
}

int baseline_show(const BaselineOptions& options) {
  const Baseline baseline = baseline_at(options.baseline);
  std::map<std::pair<std::string, std::string>, Row> groups;
  for (const BlessedCase& c : baseline.cases) {
    if (!matches(options.law, c.law) || !matches(options.precision, c.precision)) continue;
    Row& row = groups[{c.law, c.precision}];
    ++row.cases, row.vacuous += c.status == Status::vacuous;
    if (ratio_is_worse(c.worst_ratio, row.worst)) row.worst = c.worst_ratio;
  }
  if (groups.empty())
    throw UsageError("baseline show: nothing matches law '" + options.law + "' and precision '" + options.precision +
                     "'");
  std::vector<std::vector<std::string>> rows{{"Law", "Precision", ">Cases", ">Vacuous", ">Worst r"}};
  for (const auto& [place, row] : groups)
    rows.push_back({place.first, place.second, grouped(row.cases), grouped(row.vacuous), significant(row.worst)});
  std::cout << blessings_text(baseline) << "\n"
            << columns(rows) << "\n"
            << counted(baseline.faults.size(), "seeded fault") << " caught\n";
  return pass;
}

void add_options(CLI::App& command, BaselineOptions& options) {
  add_baseline(command, options.baseline);
  add_filters(command, options.law, options.precision);
}

const RegisterCommand registered{{
    .place = 221,
    .name = "baseline show",
    .help = "what is blessed, since which commit, and why",
    .bind = with_options(add_options, baseline_show),
}};

}  // namespace
}  // namespace tally::command_line::baseline_show_command

// `tally baseline diff`: what results would change in a baseline.
namespace tally::command_line::baseline_diff_command {
namespace {

int baseline_diff(const BaselineOptions& options) {
  const GateReport report = tally::gate(results_of(options.results), baseline_at(options.baseline));
  const Comparison& found = report.comparison;
  std::cout << gate_text(report, {{file_of, options.all}, ""});
  return found.equal == found.cases && found.gone + found.fresh == 0 ? pass : failed;
}

void add_options(CLI::App& command, BaselineOptions& options) {
  add_results_and_baseline(command, options.results, options.baseline);
  add_all(command, options.all);
}

const RegisterCommand registered{{
    .place = 223,
    .name = "baseline diff",
    .help = "what results change; exit code 1 where they do",
    .bind = with_options(add_options, baseline_diff),
}};

}  // namespace
}  // namespace tally::command_line::baseline_diff_command

// `tally baseline bless`: as `tally bless`, but everything at once only when asked for twice.
namespace tally::command_line::baseline_bless_command {
namespace {

struct BaselineBlessOptions {
  BlessOptions bless;
  bool all = false, yes = false;
};

int baseline_bless(const BaselineBlessOptions& options) {
  const BlessOptions& what = options.bless;
  const bool filtered = what.law != "*" || what.precision != "*" || !what.cases.empty();
  if (filtered == options.all)
    throw UsageError("baseline bless: expected either --law, --precision or --case, or --all --yes");
  if (options.all && !options.yes)
    throw UsageError("baseline bless: --all accepts every change; expected --yes with it");
  return bless(what);
}

void add_options(CLI::App& command, BaselineBlessOptions& options) {
  add_change_with_reason(command, options.bless);
  command.add_flag("--all", options.all, "accept everything; needs --yes too");
  command.add_flag("--yes", options.yes, "do not refuse --all");
}

const RegisterCommand registered{{
    .place = 225,
    .name = "baseline bless",
    .help = "accept what the filters name",
    .bind = with_options(add_options, baseline_bless),
}};

}  // namespace
}  // namespace tally::command_line::baseline_bless_command

// `tally baseline prune`: a baseline without what is gone.
namespace tally::command_line::baseline_prune_command {
namespace {

void add_options(CLI::App& command, BlessOptions& options) {
  options.change = tally::prune;
  add_change(command, options);
}

const RegisterCommand registered{{
    .place = 226,
    .name = "baseline prune",
    .help = "take out what the results no longer have",
    .bind = with_options(add_options, bless),
}};

}  // namespace
}  // namespace tally::command_line::baseline_prune_command

// `tally baseline tighten`: a baseline of what became better.
namespace tally::command_line::baseline_tighten_command {
namespace {

void add_options(CLI::App& command, BlessOptions& options) {
  options.change = tally::tighten;
  add_change_with_reason(command, options);
}

const RegisterCommand registered{{
    .place = 227,
    .name = "baseline tighten",
    .help = "accept only what became better",
    .bind = with_options(add_options, bless),
}};

}  // namespace
}  // namespace tally::command_line::baseline_tighten_command

// `tally baseline verify`: whether a baseline is as Tally writes it.
namespace tally::command_line::baseline_verify_command {
namespace {

int baseline_verify(const BaselineOptions& options) {
  const Baseline baseline = baseline_at(options.baseline);
  Baseline sorted = baseline;
  put_in_order(sorted);
  if (to_json(sorted) != stored_text(options.baseline))
    throw UsageError(options.baseline +
                     ": found another order or spelling than Tally writes; it may have been merged "
                     "by hand: expected what `./tally baseline bless` leaves");
  std::cout << options.baseline << ": " << counted(baseline.cases.size(), "case") << ", "
            << counted(baseline.faults.size(), "fault") << ", " << counted(baseline.blessings.size(), "blessing")
            << "\n";
  return pass;
}

void add_options(CLI::App& command, BaselineOptions& options) { add_baseline(command, options.baseline); }

const RegisterCommand registered{{
    .place = 222,
    .name = "baseline verify",
    .help = "whether the file is whole, sorted and as Tally wrote it",
    .bind = with_options(add_options, baseline_verify),
}};

}  // namespace
}  // namespace tally::command_line::baseline_verify_command
