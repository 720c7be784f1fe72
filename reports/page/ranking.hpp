// The order in which the page lists cases, made once: the failing ones, then those that are nearest to a limit for
// their kind. Links lead to the rows that are listed.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "reports/census/unusual.hpp"

namespace tally {

class Ranking {
 public:
  /// `results` must last as long as this object.
  explicit Ranking(const Results& results);

  const Usual& usual() const { return usual_; }
  const std::vector<const CaseRecord*>& cases() const { return cases_; }  // all
  double used(const CaseRecord& c) const { return used_.at(&c); }         // used_of()
  /// Whether it is among the first listed_cases, each of which has a row with its anchor.
  bool lists(const CaseRecord& c) const { return listed_.contains(&c); }
  /// anchor_of() with '#' in front if the case is listed; else empty.
  std::string link_to(const CaseRecord& c) const;

 private:
  Usual usual_;
  std::vector<const CaseRecord*> cases_;
  std::unordered_set<const CaseRecord*> listed_;
  std::unordered_map<const CaseRecord*, double> used_;
};

}  // namespace tally
