// What the trials amount to, counted by judge, format, gradient size and fault, as tables and plots.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "properties/lab/rules/trial.hpp"
#include "reports/record/study.hpp"

namespace tally {

struct Count {
  std::uint64_t events = 0, trials = 0;
  void add(char answer) {
    trials += answer != '-';
    events += answer == '1';
  }
};

/// Runs that one judge rejected, by the answers of a trial.
struct Score {
  Count clean, own, trusted, first_clean, first_own;
  Count apart;  // faulty runs rejected by who accepted the clean run of the same case
};

using Scores = std::vector<Score>;  // as judges()

struct Scoreboard {
  std::map<std::pair<Dtype, int>, Scores> by_setting;  // storage, exponent
  std::map<std::string, Scores> by_fault;
  std::map<std::pair<Dtype, int>, std::vector<double>> gradients;
  std::map<std::string, std::uint64_t> never_shown;  // fault: settings in which no draw showed it
  std::vector<std::string> missed, alarmed;          // Tally's, by fault and law

  void add(const TrialSetting& setting, const Trial& trial);
};

/// All settings of a storage format, or all of them, together.
Scores together(const Scoreboard& board);
Scores together(const Scoreboard& board, Dtype storage);

// The tables and plots of the study.

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
