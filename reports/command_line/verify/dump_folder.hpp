// Where `tally replay` may put a case and its trace.
#pragma once

#include <filesystem>

namespace tally::command_line {

/// Throws UsageError where the folder has a case.json or a trace.safetensors that Tally did not write, such as a case
/// written by hand.
void require_dump_folder(const std::filesystem::path& folder);

/// Whether the folder has a case and its trace as Tally writes them.
bool holds_dump(const std::filesystem::path& folder);

}  // namespace tally::command_line
