// What a failing case left, kept for whoever cannot run it again.
#pragma once

#include <filesystem>

#include "properties/laws/law.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

inline constexpr std::size_t dumped_cases = 16;
inline constexpr std::uintmax_t dumped_bytes = 64u << 20;

/// Throws UsageError where FOLDER/failures is something else than a folder.
void require_failures_folder(const std::filesystem::path& folder);

/// FOLDER/failures/<id>/case.json and trace.safetensors of the worst failing cases, as far as the limits go. A case
/// that cannot be run again is left out with a line on standard error: it never changes the verdict.
void dump_failures(const Results& results, const RunOptions& subject, const std::filesystem::path& folder);

}  // namespace tally::command_line
