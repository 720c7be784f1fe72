// What frameworks do with several ranks, each under a name: which keys of `execution.ranks` that is, by oracle/ranks.md.
// Defined in rank_presets.cpp.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct RankPreset {
  std::string name, what;
  /// Where it was read: the framework's own name of the code.
  std::string source;
  /// Sets sharding, division and the order of buckets, of a case that has them at their defaults.
  void (*apply)(Case& c);
};
const std::vector<RankPreset>& rank_presets();
/// nullptr for a name that none has.
const RankPreset* find_rank_preset(const std::string& name);
/// The case as this framework would run it.
Case as_preset(Case c, const RankPreset& preset);

}  // namespace tally
