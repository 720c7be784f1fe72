// A case and the trace of its run, kept for `tally check`.
#pragma once

#include <cstdint>
#include <filesystem>

#include "properties/laws/law.hpp"

namespace tally::command_line {

/// Runs the case and writes FOLDER/case.json and trace.safetensors: both or, where one cannot be made, neither. Returns
/// the trace's bytes.
std::uintmax_t keep_run(const std::filesystem::path& folder, const Case& c, const RunOptions& subject);

}  // namespace tally::command_line
