// Tensors of a capture that were compared in vain: every comparison of them is vacuous.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally::command_line {

/// The last window-wide question that a capture answers, left open: the first window of which parameters are there, and
/// all of them compared in vain, so that nothing is shown of its step. Nothing where there is none.
std::optional<int> window_not_shown(const std::vector<TensorCheck>& checks);

/// One sentence without a full stop, or an empty text: such a window, else the tensors compared in vain, the first by
/// name with its numbers.
std::string compared_in_vain(const std::vector<TensorCheck>& checks);

}  // namespace tally::command_line
