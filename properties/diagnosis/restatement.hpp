// A restatement: what a loop may do in place of what its case says; a failed capture judged again under each.
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/lenses/loop_deviation.hpp"
#include "reports/record/record.hpp"

namespace tally {

// A restatement: what a loop may do in place of what its case says, as another recipe for the same trace. Where the case
// fails and a restatement of it passes inside all its bounds, that is the cause, however few taps there are. One file an
// idea; it registers itself. It bears the name of the suspect that says the same of a stage's own bits.

/// One way to state it.
struct Restated {
  std::function<void(Case& c)> change = {};  // the recipe, where a case can say it
  LoopDeviation deviation = {};              // and what no case can
  bool steps_each_micro_batch = false;       // every micro-batch is a window of its own (restatement.hpp)
  /// How many numbers and rules differ from the stated ones. The smallest of several comes first.
  int changed = 1;
  std::string sentence = {}, formula = {};  // where the restatement's own do not say it
};

struct Restatement {
  std::string name;
  std::string sentence;  // what the loop does, for people
  std::string formula;
  std::string remedy = {};  // as that of a suspect; empty where the suspect of that name has it
  /// Those that differ from the case; `trace` is there for its claims.
  std::vector<Restated> (*ways)(const Case& c, const Trace& trace) = nullptr;
};

struct RegisterRestatement {
  explicit RegisterRestatement(Restatement restatement, std::source_location at = std::source_location::current());
};

/// All of them, sorted by name.
std::vector<const Restatement*> restatements();
const Restatement* find_restatement(std::string_view name);

// A trace read as that of a loop that takes a step after every micro-batch.

/// The window that micro-batch k of window w becomes.
int regrouped_window(const Case& c, int window, int micro_batch);
/// The tap's name then. A stage of the whole window ran several times and left its first inputs and its last outputs.
TapName regrouped(const Case& c, TapName name);
/// Whether it speaks of windows as they were cut, and of no others: the schedule's, which count windows, and the items
/// of a whole window.
bool is_of_the_cut(const TapName& name);
/// Without the taps that speak of windows as they were cut.
Trace regrouped(const Case& c, const Trace& trace);
/// Every micro-batch a window.
Case regrouped(const Case& c);

// A failed capture judged again under other recipes.

/// Whether the capture is small enough to be judged some dozens of times.
bool small_enough_to_restate(const Case& c, const Trace& trace);

/// The restatements that pass inside all their bounds, the least demanding first, where `checks` of the statement fail.
/// All checks of the statement must pass, none may become vacuous or missing, and the error that made the statement
/// fail must be larger than the restatement's own bounds admit. A restatement that explains only a part is not named.
std::vector<Suspicion> restated_causes(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

}  // namespace tally
