// Which of two programs is faster, from runs made in turn.
#pragma once

#include <string>
#include <vector>

namespace tally {

struct Timing {
  std::vector<double> before, now;       // seconds of each pair of runs
  double factor = 1, low = 1, high = 1;  // median of now / before and its limits
  std::string verdict;                   // "faster", "slower", "undecided"
};

/// The limits are those of the median of the pairs; "undecided" unless a limit lies beyond 1 and enough pairs were run
/// to have shown it (five: 2^-5 < 0.05). Throws std::invalid_argument where the lists differ in length or are empty.
Timing timing_of(std::vector<double> before, std::vector<double> now);

/// "time of the campaign 1.02x [0.98, 1.05] undecided, 5 pairs of runs".
std::string text_of(const Timing& timing);

}  // namespace tally
