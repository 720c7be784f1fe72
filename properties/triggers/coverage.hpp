// Which triggers the cases of a campaign showed. A law's cases are judged inside a CoverageScope; every run that is
// judged there counts.
#pragma once

#include <string_view>
#include <vector>

#include "properties/triggers/trigger.hpp"
#include "reports/record/triggers.hpp"

namespace tally {

class Coverage {
 public:
  Coverage();
  /// A case of one or several judged runs: pairs count where one run showed both.
  void add_case(const std::vector<std::vector<bool>>& runs);
  /// By hand: a trigger that nothing in a run shows. Throws std::logic_error for an unknown name.
  void note(std::string_view name, std::uint64_t times = 1);
  /// Pairs of case triggers that add_case() would see for the first time.
  std::size_t new_pairs(const std::vector<std::vector<bool>>& runs) const;
  const std::vector<TriggerRecord>& records() const { return records_; }

 private:
  std::vector<TriggerRecord> records_;
};

/// Which triggers a judged run shows, in the order of triggers().
std::vector<bool> triggers_of(const Sight& sight);

/// While it lives, note_judged_run() in this thread collects here. Scopes do not nest.
class CoverageScope {
 public:
  explicit CoverageScope(const Case& drawn);
  ~CoverageScope();
  CoverageScope(const CoverageScope&) = delete;
  CoverageScope& operator=(const CoverageScope&) = delete;
  const std::vector<std::vector<bool>>& runs() const { return runs_; }

 private:
  friend void note_judged_run(const Case& c, const Trace& trace);
  friend void note_shown(std::string_view trigger);
  const Case& drawn_;
  std::vector<std::vector<bool>> runs_;
};

/// Called for every run that the lenses judge; does nothing outside a scope.
void note_judged_run(const Case& c, const Trace& trace);

/// A law did what this trigger names, and no run tells; does nothing outside a scope. Throws std::logic_error for an
/// unknown name.
void note_shown(std::string_view trigger);

}  // namespace tally
