// Stages that leave no taps between them, judged together (oracle/tolerance.md, Groups).
// Defined in named_place.cpp, stage_cones.cpp, properties/judge/ranks/rank_checks.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/trace/tap_name.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/graph/window_graph.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "reports/record/record.hpp"

namespace tally {

enum class Grouping {
  declared,  // taps may miss inside the groups that the trace declares (Trace::groups), and nowhere else
  inferred   // of a capture: taps may miss wherever a later tap shows what came of them
};

struct GroupedChecks {
  std::vector<TensorCheck> checks;  // of both hard lenses, and of lens "group"
  std::vector<std::string> groups;  // formed: "unscale..optimizer", in running order
};

/// Is told of every tap that the local lens went through, with its bytes.
using GoneThrough = std::function<void(const std::string& tap, std::size_t bytes)>;

/// Both hard lenses. Where taps are missing, the outputs behind them are held against the composed functions of every
/// stage since the last taps that are there (lens "group", the check's stage named "unscale..optimizer"), and what a
/// group covers is not_run no more. A stage whose results reach no tap stays not_run. In a declared group the inputs
/// that something outside the group left must be tapped, once.
GroupedChecks hard_lenses(const Case& c, const Trace& trace, Grouping grouping, const GoneThrough& told = {});

/// The same of ranks that train together, generation by generation where their number changes, each rank's checks as one
/// rank alone has them: local and in groups on bits of its own, with what the others handed over; end to end all of them
/// together.
std::vector<std::vector<GroupedChecks>> hard_lenses(const GenerationsOfTrace& generations, Grouping grouping);

// Which stages a stage's outputs are judged through, where stages in between left no taps.

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

// Stages that the recipe requires and the trace lacks: they are the cause where a later stage fails.

/// Where a check fails and an earlier stage left no tap of a tensor that it must leave, that stage is the first that
/// fails: its check, not_run so far, fails and moves before the other. Inputs alone may be untapped. For subjects that
/// tap every stage they run.
void name_absent_stage(const Case& c, const Trace& trace, std::vector<TensorCheck>& checks);

/// Whether this check fails because its stage did not run.
bool is_absent(const TensorCheck& check);

// Which tap an input of a stage comes from, by the graph of a window.

/// The outputs that the input `read` ("in.…") may be, the likeliest first; some of them may not be there, as a skipped
/// window steps nothing. Empty for inputs that no stage before left: of the case, and constants.
std::vector<TapName> producers_of(const Case& c, const WindowGraph& graph, const TapName& read);

// Where an element stands, in the words of its layer: "query 3 of sequence 1, head 2, feature 0".

/// The place of an element in its sequence, which is counted in the micro-batch, and its head in attention: in a tensor
/// that has a row for every row of its micro-batch, where the case has sequences. The stage of a pipeline that left the
/// tap stands in front of it. Else empty.
std::string named_place(const Case& c, const TapName& tap, const std::vector<std::int64_t>& index);
/// Says it in every check that fails; of ranks of each one's own part.
void name_places(const Case& c, std::vector<TensorCheck>& checks);

// What was found of every rank, as checks of the whole trace.

/// The checks of all ranks under the names that the whole trace has, in its order; behind them one for every tensor of
/// a window's end that a rank holds in other bits than rank 0 though all must hold the same.
std::vector<TensorCheck> checks_of_whole(const RanksOfTrace& ranks, const Trace& trace,
                                         const std::vector<GroupedChecks>& of_each);
/// The same of all generations, one behind another; the end-to-end lens behind all others.
std::vector<TensorCheck> checks_of_whole(const GenerationsOfTrace& generations, const Trace& trace,
                                         const std::vector<std::vector<GroupedChecks>>& of_each);

/// A failing check where two ranks hold other bits of what is one value by definition: everything from their sum on,
/// as far as the kernels promise their bits. +0 and -0 are one value; which NaN it is is not asked.
std::vector<TensorCheck> disagreements(const RanksOfTrace& ranks);

}  // namespace tally
