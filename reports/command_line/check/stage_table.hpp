// What the lenses found, stage by stage, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally::command_line {

/// A line a stage (in order of first appearance): checks, failures, vacuous, worst local and end-to-end ratio; then the
/// failing tensors, worst element each with what its bound is made of; where none fails, the one nearest to its limit.
std::string stage_table(const std::vector<TensorCheck>& checks);

/// The exit code of a set of checks: 1 when one failed, 4 when nothing passed or something did not run, else 0. State
/// that the last step left for a next one, which the capture does not hold, need not have run.
int exit_code_of(const std::vector<TensorCheck>& checks);

}  // namespace tally::command_line
