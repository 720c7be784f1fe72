// What the trials amount to, counted by judge, format, gradient size and fault.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "properties/studies/rules/trial.hpp"

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

}  // namespace tally
