// What could be blessed: of a run's results, or of the pending.json that the gate left.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reports/command_line/verify/baseline_options.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/gate/bless.hpp"

namespace tally::command_line {

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
