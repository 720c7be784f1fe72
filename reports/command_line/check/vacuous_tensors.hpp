// Tensors of a capture that were compared in vain: every comparison of them is vacuous.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally::command_line {

/// The first window whose parameters after the step are there and were all compared in vain: nothing is shown of its
/// step. Nothing where there is no such window.
std::optional<int> window_not_shown(const std::vector<TensorCheck>& checks);

/// One sentence without a full stop, or an empty text: such a window, else how many tensors were compared in vain, with
/// the name of the first and its numbers, or that missing taps leave open what it is to hold.
std::string compared_in_vain(const std::vector<TensorCheck>& checks);

}  // namespace tally::command_line
