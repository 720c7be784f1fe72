// The commands that hold runs against others: gate, bless, baseline, compare, history.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tally::command_line {

using Action = std::function<int()>;

/// Adds them to the program; the one that is chosen sets `action`.
void add_gate_commands(CLI::App& app, Action& action);

}  // namespace tally::command_line
