// What earlier runs left, read from files; options of baselines, what could be blessed, and changes with a reason.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "reports/command_line/check/run_words.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/gate/baseline.hpp"
#include "reports/gate/bless.hpp"
#include "reports/gate/waivers.hpp"
#include "reports/history/history.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

// What earlier runs left, read from files. Throws UsageError naming the file and what was expected.

Baseline baseline_at(const std::string& file);
std::vector<Waiver> waivers_at(const std::string& file);
/// The entries of a history (.jsonl), or of one results.json.
std::vector<HistoryEntry> history_at(const std::string& file);

// Options of the commands that look at a baseline or change it.

/// The options of the commands of `tally baseline` that read alone.
struct BaselineOptions {
  std::string baseline, results;  // results may be empty for show and verify
  std::string law = "*", precision = "*";
  std::string reason, commit;  // of a review
  bool all = false;            // of a diff: every finding
};

/// The baseline alone, as an argument.
void add_baseline(CLI::App& command, std::string& baseline);
void add_results_and_baseline(CLI::App& command, std::string& results, std::string& baseline);
/// --law and --precision, as shell patterns.
void add_filters(CLI::App& command, std::string& law, std::string& precision);

// Changes of a baseline, with a reason: what `tally bless` and the commands of `tally baseline` that write have in
// common.

struct BlessOptions {
  std::string results, baseline, reason, commit;
  std::string law = "*", precision = "*";
  std::vector<std::string> cases;
  bool allow_ci = false;
  BlessReport (*change)(const Results&, const std::string&, const tally::BlessOptions&) = tally::bless;
};

/// All of its options but for --reason and --commit.
void add_change(CLI::App& command, BlessOptions& options);
void add_change_with_reason(CLI::App& command, BlessOptions& options);

int bless(const BlessOptions& options);

// What could be blessed: of a run's results, or of the pending.json that the gate left.

struct Proposal {
  std::vector<CaseEntry> before, now;  // sorted; of a pending.json what changed or is new alone
  Comparison change;
  std::vector<std::string> faults;  // caught now and not blessed yet; of a pending.json alone
  std::function<BlessReport(const tally::BlessOptions&)> bless;
};

/// Throws UsageError for a file that is neither, or is a baseline itself.
Proposal proposal_of(const BaselineOptions& options);

/// Operations, laws and the cases whose r grew most, with their old and new values; then the commands that accept it.
std::string text_of(const Proposal& proposal, const BaselineOptions& options);

/// "exact_lane, fp16: 3 of 5 cases changed, 0 new, 0 gone; worst r 0.4 -> 0.5; accuracy the same".
std::string line_of(const LawChange& law);
bool is_changed(const LawChange& law);

}  // namespace tally::command_line
