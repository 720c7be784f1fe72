// Accepts a run's numbers as the new baseline.
#pragma once

#include <string>

#include "reports/gate/baseline.hpp"

namespace tally {

struct BlessOptions {
  std::string reason;     // must say something
  std::string law = "*";  // shell patterns of what is blessed
  std::string precision = "*";
  bool allow_ci = false;  // else refused where the environment variable CI is set
};

struct BlessReport {
  std::uint64_t added = 0, changed = 0, removed = 0, unchanged = 0;
};

/// Replaces this machine's entries that match (and only with both patterns "*" its faults) and leaves all others as
/// they are; what matches and is gone from the results is removed; what did not change keeps its reason. Makes the file
/// if there is none. Throws std::runtime_error, with the file untouched, for an empty reason, in continuous
/// integration, for a partial run, a matching failure or lost fault, and if nothing matches.
BlessReport bless(const Results& results, const std::string& file, const BlessOptions& options);

}  // namespace tally
