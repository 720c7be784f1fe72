// Which triggers the cases of a campaign showed, which settings, which pairs of them and which ways of launches
// (reach.hpp). A law's cases are judged inside a CoverageScope; every run that is judged there counts.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "properties/laws/run_and_check.hpp"
#include "properties/triggers/trigger.hpp"
#include "reports/record/triggers.hpp"

namespace tally {

/// What a judged run showed: by the places of triggers(), and by those of records_to_reach().
struct SeenRun {
  std::set<std::size_t> triggers, reached;
};

class Coverage {
 public:
  /// What is reached is a matter of one executor's kernels.
  explicit Coverage(ExecutorKind executor = ExecutorKind::host);
  /// A case of one or several judged runs: pairs count where one run showed both.
  void add_case(const std::vector<SeenRun>& runs);
  /// By hand: a trigger that nothing in a run shows. Throws std::logic_error for an unknown name.
  void note(std::string_view name, std::uint64_t times = 1);
  /// Pairs of settings that add_case() would see for the first time.
  std::size_t new_pairs(const std::vector<SeenRun>& runs) const;
  const std::vector<TriggerRecord>& records() const { return records_; }

 private:
  std::vector<TriggerRecord> records_;
};

/// Which triggers a judged run shows.
std::set<std::size_t> triggers_of(const Sight& sight);

/// What the runs show that a law checks while it lives.
class CoverageScope : public RunObserver {
 public:
  explicit CoverageScope(const Case& drawn, ExecutorKind executor = ExecutorKind::host);
  void see_run(const Case& c, const CheckedRun& run) override;
  void see_launches(ExecutorKind executor, const std::set<LaunchPath>& paths) override;
  /// Throws std::logic_error for an unknown name.
  void see_trigger(std::string_view name) override;
  const std::vector<SeenRun>& runs() const { return runs_; }

 private:
  const Case& drawn_;
  ExecutorKind executor_;  // what runs of others reach does not count
  std::vector<SeenRun> runs_;
};

}  // namespace tally
