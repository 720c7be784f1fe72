// What the lenses found, stage by stage, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally::command_line {

/// A line a stage (in order of first appearance): checks, failures, vacuous ones, the worst error / bound; then the failing
/// tensors by their worst elements; where none fails, the one nearest to its limit. With `all_figures` the end-to-end
/// checks beside the others, hexadecimal numbers, and what each bound is made of.
std::string stage_table(const std::vector<TensorCheck>& checks, bool all_figures);

/// The exit code of a set of checks: 1 when one failed, 4 when nothing passed or something did not run, else 0. State
/// that the last step left for a next one, which the capture does not hold, need not have run.
int exit_code_of(const std::vector<TensorCheck>& checks);

}  // namespace tally::command_line
