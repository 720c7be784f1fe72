// A restatement: what a loop may do in place of what its case says, as another recipe for the same trace. Where the case
// fails and a restatement of it passes inside all its bounds, that is the cause, however few taps there are. One file an
// idea; it registers itself. It bears the name of the suspect that says the same of a stage's own bits.
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/compare/departure.hpp"

namespace tally {

/// One way to state it.
struct Restated {
  std::function<void(Case& c)> change = {};  // the recipe, where a case can say it
  Departure departure = {};                  // and what no case can
  bool steps_each_micro_batch = false;       // every micro-batch is a window of its own (regrouped.hpp)
  /// How much it demands: how many numbers and rules are others than stated. The least of several is named first.
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

}  // namespace tally
