// What the failing cases of a run point to together. A single small case suits many formulas by chance; the bug's own
// suspect is listed by the others as well.
#pragma once

#include <optional>
#include <string>

#include "reports/record/record.hpp"

namespace tally {

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

}  // namespace tally
