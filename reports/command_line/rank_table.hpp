// What the lenses found, rank by rank, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally::command_line {

/// A line a rank: its checks, how many failed, were vacuous or not run, and the stage where the first fails.
/// Neighbouring ranks of which the same is to say share one line, "1-1023". Empty where one rank trains.
std::string rank_table(const std::vector<TensorCheck>& checks);

/// The checks of one rank's taps.
std::vector<TensorCheck> checks_of_rank(const std::vector<TensorCheck>& checks, int rank);

}  // namespace tally::command_line
