// A command that runs kernels, in a process of its own: what a kernel does to its process must not go by in silence.
#pragma once

#include <functional>

namespace tally::command_line {

/// What `command`, which throws nothing, returns in a process that ends with it; where the process dies instead, a line
/// that says how, and that the case failed.
int in_own_process(const std::function<int()>& command);

}  // namespace tally::command_line
