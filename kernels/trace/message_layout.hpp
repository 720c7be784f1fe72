// Taps of what stages of a pipeline hand to each other.
// Defined in message_layout.cpp.
#pragma once

#include "kernels/trace/running_layout.hpp"

namespace tally::taps {

/// Of `send` and `receive` by stage `pipe`: the output of a part, the input that the next part begins with, and their
/// gradients.
Layout message_tap(const Place& at, int pipe, bool sent);

}  // namespace tally::taps
