// What earlier runs left, what could be blessed, and changes with a reason.
#include "reports/command_line/verify/baseline.hpp"

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>

#include "reports/census/census.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/compare/entry.hpp"
#include "reports/gate/bless.hpp"
#include "reports/gate/gate.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally::command_line {
namespace {

/// What `read` returns; its complaint names the file already.
template <class Read>
auto parsed_there(Read read) {
  try {
    return read();
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
}

}  // namespace

Baseline baseline_at(const std::string& file) {
  return parsed_there([&] { return read_baseline(file); });
}

std::vector<HistoryEntry> history_at(const std::string& file) {
  if (!file.ends_with(".jsonl")) return {history_entry_of(results_of(file))};
  return parsed_there([&] { return read_history(file); });
}

std::vector<Waiver> waivers_at(const std::string& file) {
  return parsed_there([&] { return read_waivers(file); });
}

void add_baseline(CLI::App& command, std::string& baseline) {
  command.add_option("baseline", baseline, "baseline file")->required();
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

namespace {

constexpr std::size_t cases_shown = 12;

Proposal of_pending(const std::string& file, const Baseline& kept, const std::string& baseline_file) {
  const auto pending = std::make_shared<const Baseline>(baseline_at(file));
  if (!is_left_by_gate(*pending)) throw UsageError(file + " is a baseline");
  Proposal proposal;
  proposal.before = before_pending(*pending, kept);
  proposal.now = pending->entries_of(pending->blessings.front().machine);
  proposal.change = compared(proposal.before, proposal.now);
  proposal.change.bits_repeat = pending->blessings.front().machine.executor != "cuda";
  for (const BlessedFault& fault : pending->faults) proposal.faults.push_back(fault.name);
  proposal.bless = [pending, baseline_file](const tally::BlessOptions& how) {
    return bless_pending(*pending, baseline_file, how);
  };
  return proposal;
}

Proposal of_results(const std::string& file, const Baseline& kept, const std::string& baseline_file) {
  const auto results = std::make_shared<const Results>(results_of(file));
  Proposal proposal;
  proposal.before = kept.entries_of(machine_of(*results));
  proposal.now = entries_of(*results);
  proposal.change = tally::gate(*results, kept).comparison;
  proposal.bless = [results, baseline_file](const tally::BlessOptions& how) {
    return tally::bless(*results, baseline_file, how);
  };
  return proposal;
}

using Row = std::vector<std::string>;

struct CaseChange {
  const CaseEntry *before, *now;
  /// The growth of r; what cannot be compared stands first.
  double growth() const {
    const double by = now->worst_ratio == before->worst_ratio ? 1 : now->worst_ratio / before->worst_ratio;
    return by <= std::numeric_limits<double>::infinity() ? by : std::numeric_limits<double>::infinity();
  }
};

/// Cases with other values than before, by how much r grew; new ones have none to compare.
std::vector<CaseChange> changed_cases(const Proposal& proposal) {
  std::vector<CaseChange> changes;
  for (const CaseEntry& now : proposal.now) {
    const auto before = std::lower_bound(proposal.before.begin(), proposal.before.end(), now, stands_before);
    if (before != proposal.before.end() && before->same_place(now) && !same_content(*before, now))
      changes.push_back({&*before, &now});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const CaseChange& a, const CaseChange& b) { return a.growth() > b.growth(); });
  return changes;
}

std::string cases_text(const Proposal& proposal) {
  const auto changes = changed_cases(proposal);
  if (changes.empty()) return "";
  std::vector<Row> rows{{"  Case", "Law", "Precision", ">r before", ">r now", ">Drift before", ">Drift now"}};
  for (std::size_t i = 0; i < std::min(changes.size(), cases_shown); ++i) {
    const auto& [before, now] = changes[i];
    rows.push_back({"  " + now->id, now->law, now->precision, significant(before->worst_ratio),
                    significant(now->worst_ratio), significant(before->rounding_drift),
                    significant(now->rounding_drift)});
  }
  return "\nChanged cases, those whose worst r grew most first\n" + columns(rows) +
         (changes.size() > cases_shown ? "  and " + grouped(changes.size() - cases_shown) + " more\n" : "");
}

std::string commands_text(const BaselineOptions& options, bool any) {
  if (!any) return "\nnothing is to be accepted\n";
  const std::string what = shell_word(options.results) + " --baseline " + shell_word(options.baseline);
  return "\naccept all of it:  ./tally bless " + what + " --reason \"...\"\n" +
         "or some:           the same with --law LAW, --precision PRECISION or --case ID\n" +
         "or one by one:     ./tally baseline review " + what + " --reason \"...\"\n";
}

}  // namespace

Proposal proposal_of(const BaselineOptions& options) {
  const Baseline kept = baseline_at(options.baseline);
  try {
    return is_pending(options.results) ? of_pending(options.results, kept, options.baseline)
                                       : of_results(options.results, kept, options.baseline);
  } catch (const UsageError& problem) {
    throw UsageError(std::string(problem.what()) +
                     "; expected the results.json of a run or the pending.json of a gate");
  }
}

bool is_changed(const LawChange& law) { return law.equal < law.cases || law.gone + law.fresh > 0; }

std::string line_of(const LawChange& law) {
  return law.law + ", " + law.precision + ": " + grouped(law.cases - law.equal) + " of " + counted(law.cases, "case") +
         " changed, " + grouped(law.fresh) + " new, " + grouped(law.gone) + " gone; worst r " +
         significant(law.worst_before) + " -> " + significant(law.worst_now) + "; " + text_of(law.accuracy);
}

std::string text_of(const Proposal& proposal, const BaselineOptions& options) {
  std::string text = comparison_text(proposal.change, {file_of, true}), laws;
  for (const LawChange& law : proposal.change.laws)
    if (is_changed(law)) laws += "  " + line_of(law) + "\n";
  if (!laws.empty()) text += "\nBy law\n" + laws;
  text += cases_text(proposal);
  for (const std::string& fault : proposal.faults) text += "newly caught: seeded fault " + fault + "\n";
  return text + commands_text(options, !laws.empty() || !proposal.faults.empty());
}

}  // namespace tally::command_line
