// What the statistical lens found over a whole run.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

struct SpreadTotals {
  std::uint64_t comparisons = 0,
                warnings = 0;         // warnings: cases that are less likely than they should be, yet no failure
  const CaseRecord* least = nullptr;  // with the least chance; nullptr: no comparison was made
};
SpreadTotals spread_totals(const Results& results);

/// "3,051,265 comparisons, 0 warnings; least chance 1e-3.9 (w0/m1/loss/d.y, along itself); fails below 1e-18.0, warns
/// below 1e-12.0: alpha = 1e-9 and 1e-3 among 2^30 comparisons"; empty where none was made.
std::string spread_sentence(const Results& results);

}  // namespace tally
