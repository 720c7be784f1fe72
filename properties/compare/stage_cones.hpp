// Which stages a stage's outputs are judged through, where stages in between left no taps.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/graph/window_graph.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// One run of a stage: of a window, or of one of its micro-batches (-1: of the window).
struct StageRun {
  int window = 0, micro_batch = -1;
  std::string stage;
  bool observed = true;  // every output has a tap
  bool shown = true;     // every output has but an optimizer's state: what it did shows in the parameters
};

class StageCones {
 public:
  /// From the checks of a walk in the order made: one for every output of every stage, not_run where the tap is
  /// missing.
  StageCones(const Case& c, const std::vector<TensorCheck>& outputs);

  /// The unobserved runs whose results flow, untapped, into the run of this tap, and itself; in running order.
  /// Empty: this case runs no such stage.
  std::vector<StageRun> cone(const std::string& tap) const;
  /// "unscale..optimizer", or the tap's own stage, where several of its runs (micro-batches) are judged together too.
  std::string label(const std::string& tap) const;
  /// The tap's stage ran with every output tapped, or in the cone of one that did. An optimizer's state may be left
  /// out, which the parameters show that were computed from it: of this step, or of a later one.
  bool covers(const std::string& tap) const;

 private:
  using Key = std::tuple<int, int, std::string>;
  const std::vector<std::size_t>& producers(std::size_t at) const;
  void reach(std::size_t at, std::set<std::size_t>& reached) const;
  void count_back(std::size_t at, std::set<std::size_t>& reached) const;
  const StageRun* run_of(const std::string& tap, std::size_t& at) const;
  bool steps_after(const StageRun& run) const;

  const Case& c_;
  WindowGraph graph_;
  std::vector<StageRun> runs_;
  std::map<Key, std::size_t> index_;
  std::vector<bool> covered_;
  mutable std::vector<std::optional<std::vector<std::size_t>>> known_;  // producers, of each run
};

}  // namespace tally
