// Which triggers the cases of a campaign showed, which values of options and which ways of launches (reach.hpp). A
// law's cases are judged inside a CoverageScope; every run that is judged there counts.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "kernels/device/launch_paths.hpp"
#include "properties/triggers/trigger.hpp"
#include "reports/record/triggers.hpp"

namespace tally {

class Coverage {
 public:
  /// What is reached is a matter of one executor's kernels.
  explicit Coverage(ExecutorKind executor = ExecutorKind::host);
  /// A case of one or several judged runs: pairs count where one run showed both. `reached`: places in
  /// records_to_reach().
  void add_case(const std::vector<std::vector<bool>>& runs, const std::set<std::size_t>& reached = {});
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
  explicit CoverageScope(const Case& drawn, ExecutorKind executor = ExecutorKind::host);
  ~CoverageScope();
  CoverageScope(const CoverageScope&) = delete;
  CoverageScope& operator=(const CoverageScope&) = delete;
  const std::vector<std::vector<bool>>& runs() const { return runs_; }
  /// By all runs of its executor.
  const std::set<std::size_t>& reached() const { return reached_; }

 private:
  friend void note_judged_run(const Case& c, const Trace& trace, const std::set<LaunchPath>& paths);
  friend void note_shown(std::string_view trigger);
  friend void note_judged_launches(ExecutorKind executor, const std::set<LaunchPath>& paths);
  const Case& drawn_;
  ExecutorKind executor_;
  std::vector<std::vector<bool>> runs_;
  std::set<std::size_t> reached_;
};

/// Called for every run that the lenses judge, with the ways its launches went; does nothing outside a scope.
void note_judged_run(const Case& c, const Trace& trace, const std::set<LaunchPath>& paths = {});

/// The same of kernels that a law launches and judges by itself.
void note_judged_launches(ExecutorKind executor, const std::set<LaunchPath>& paths);

/// A law did what this trigger names, and no run tells; does nothing outside a scope. Throws std::logic_error for an
/// unknown name.
void note_shown(std::string_view trigger);

}  // namespace tally
