// What a whole run tells: how rarely a correct subject fails, what the failing cases point to, what the statistical
// lens found.
#pragma once

#include <optional>
#include <string>

#include "reports/record/record.hpp"

namespace tally {

// How rarely a correct subject fails, as far as a run without failures shows it.

/// "4,539 cases judged, none failed: at most 0.066 % of them would (95 %, Clopper and Pearson)": 1 - 0.05^(1/n), the
/// upper limit of Clopper and Pearson for no failure in n. Empty where a case failed or none was judged.
std::string clean_sentence(const Results& results);

// What the failing cases of a run point to together. A single small case suits many formulas by chance; the bug's own
// suspect is listed by the others as well.

struct LikelyCause {
  std::string stage;        // at which most of the failing cases fail first
  std::size_t cases = 0;    // that do
  std::size_t failing = 0;  // all that fail
  std::string suspect;      // empty where none is listed by a third of `cases`
  std::size_t listed = 0;   // of `cases`, by those
  std::string sentence;     // of the suspect, as most of them say it
};

/// The suspect that most of the cases of the most common first stage list first, of those that at least a third of
/// these cases list. nullopt where fewer than two cases fail.
std::optional<LikelyCause> likely_cause(const Results& results);

/// "181 of 183 failing cases fail first at accumulate; 127 of them look like ...: ..."; empty where there is nothing to
/// be said.
std::string likely_cause_sentence(const Results& results);

/// The failing case to tell first: the worst of those that fail at that stage and look like that suspect; of a single
/// failing case that one. nullptr where none fails.
const CaseRecord* telling_failure(const Results& results);

// What the statistical lens found over a whole run.

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
