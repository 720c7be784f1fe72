// Which coverage points, settings, pairs of settings and ways of launches the cases of a campaign showed, and which it
// must reach.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/device/launch_paths.hpp"
#include "oracle/case/case.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"
#include "properties/laws/run_and_check.hpp"
#include "reports/record/record.hpp"
#include "reports/record/triggers.hpp"

namespace tally {

// What a campaign must reach beyond the triggers, made from the program itself: every setting of a case, every declared
// size below, at and above every edge, and every way of every kernel's launch in
// each of its precisions.

/// The records of kind "setting" or "option", by their places in settings(), then "size" and "path" ("later" where a
/// launch says that it is out of reach), none seen yet. An executor's kernels are its own.
const std::vector<TriggerRecord>& records_to_reach(ExecutorKind executor);

/// Their places in records_to_reach(): settings and sizes of the case, paths that its launches took.
std::set<std::size_t> reached_by(ExecutorKind executor, const Case& c, const std::set<LaunchPath>& paths);

std::set<std::size_t> paths_reached(ExecutorKind executor, const std::set<LaunchPath>& paths);

/// "layer_norm.forward/two_pass, fp32: a warp a row: a row's last stride cut".
std::string name_of_path(const LaunchPath& path);

/// All paths of the kernels that ship for an executor, sorted.
std::set<LaunchPath> launch_paths_of(ExecutorKind executor);

// Pairs of settings: which stood together in a campaign, and which rules keep apart.

/// The pairs of a campaign's records, in the order of records_to_reach(). A pair that no run showed is tried in plans
/// of every sort, by rules alone; those that none of them takes are refused, the others unseen.
PairsRecord pairs_of(const std::vector<TriggerRecord>& triggers);

/// The unseen ones, by the places of their settings, the later one first.
std::vector<std::pair<std::size_t, std::size_t>> pairs_to_show(const std::vector<TriggerRecord>& triggers);

/// Whether the results are of a whole default campaign: of less, few pairs say nothing.
bool counts_pairs(const Results& results);

/// Sets them where they count.
void count_pairs(Results& results);

// Which triggers the cases of a campaign showed, which settings, which pairs of them and which ways of launches
// (coverage.hpp). A law's cases are judged inside a CoverageScope; every run that is judged there counts.

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
