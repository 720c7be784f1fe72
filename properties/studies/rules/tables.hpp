// The tables and plots of the study.
// Defined in tables.cpp, plots.cpp.
#pragma once

#include <string>
#include <vector>

#include "properties/studies/rules/score.hpp"
#include "reports/record/study.hpp"

namespace tally {

inline constexpr double confidence = 0.95;

/// "1", "1e-3", "1e-6".
std::string size_name(int exponent);
/// In percent; 0 without trials.
double share(const Count& count);
/// "71.4 %"; "–" without trials.
std::string percent(const Count& count);

StudyTable table_by_judge(const Scoreboard& board);
StudyTable table_by_setting(const Scoreboard& board);
/// The rules again, for other ways to use them.
StudyTable table_by_use(const Scoreboard& board);
StudyTable table_by_fault(const Scoreboard& board);
StudyTable table_of_rules();

/// Caught against false alarms, a point for each storage format; then caught against the size of the gradients, one
/// plot a storage format.
std::vector<StudyPlot> plots_of(const Scoreboard& board);

}  // namespace tally
