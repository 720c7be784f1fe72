// What the lenses found, rank by rank, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

/// A line a rank: its checks, how many failed, were vacuous or not run, and the stage where the first fails; a line for
/// each stage that holds some layers where a pipeline trains the case. Neighbouring ranks of which the same is to say
/// share one line, "1-1023". Empty where one rank trains alone.
std::string rank_table(const Case& c, const std::vector<TensorCheck>& checks);

/// The checks of one rank's taps, and of one stage's of a pipeline; -1: of all.
std::vector<TensorCheck> checks_of(const Case& c, const std::vector<TensorCheck>& checks, int rank, int pipe);

}  // namespace tally::command_line
