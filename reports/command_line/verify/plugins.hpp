// What a program of a user's own kernels must hold before it runs.
#pragma once

namespace tally::command_line {

/// Throws UsageError, which names the file and what is expected there, for a kernel that was compiled against other
/// headers than this program, one that add_equivalence_test asks for and no file of its registers, an operation that no
/// step runs, and a kernel that takes other arguments than its operation's.
void require_plugins();

}  // namespace tally::command_line
