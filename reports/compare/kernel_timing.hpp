// Which kernel operations are faster or slower, from the same cases run by two programs in turn.
// Defined in kernel_timing.cpp, kernel_timing_text.cpp.
#pragma once

#include <string>
#include <vector>

#include "reports/record/kernel_times.hpp"

namespace tally {

/// A factor within this is none; and so many pairs of runs, all alike, a verdict takes.
inline constexpr double tolerated_slowdown = 1.1;
inline constexpr std::size_t deciding_pairs = 3;

/// The times of one pair of runs.
struct TimedPair {
  std::vector<KernelTime> before, now;
};

struct KernelTiming {
  std::string operation, precision;
  std::size_t cases = 0, pairs = 0;
  double factor = 1, low = 1, high = 1;  // median over the cases of now / before, and limits
  std::string verdict;                   // "faster", "slower", "same", "undecided"
};

/// By operation and precision, of cases that both timed. A case's logarithm of now / before is the mean over the pairs;
/// the limits enclose the bootstrap limits of the median over the cases and every pair's own median, since what slows a
/// whole run slows all its cases alike.
///   slower     the lower limit above the tolerated factor, deciding_pairs of runs at least, and the signed-rank test
///              over the cases, corrected for all operations (Holm)
///   faster     the mirror of it
///   same       both limits within the tolerated factor, deciding_pairs at least
///   undecided  else
std::vector<KernelTiming> kernel_timings_of(const std::vector<TimedPair>& pairs);

/// The decided ones, worst first, and what the others come to; empty where nothing was timed.
std::string kernel_timings_text(const std::vector<KernelTiming>& timings);
std::string kernel_timings_markdown(const std::vector<KernelTiming>& timings);

}  // namespace tally
