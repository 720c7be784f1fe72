#include "reports/command_line/verify/proposal.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "reports/census/census.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/verify/kernel_file.hpp"
#include "reports/command_line/verify/stored.hpp"
#include "reports/compare/pairs.hpp"
#include "reports/gate/gate.hpp"
#include "reports/gate/pending.hpp"
#include "reports/text/columns.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/shell.hpp"

namespace tally::command_line {
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
