// The words that every long run takes: seed, effort, where to write; and how it is interrupted.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tally::command_line {

/// A positive number; throws UsageError naming the option and what was expected.
double number_of(const std::string& text, const std::string& what, const std::string& expected);

/// A whole number or "random"; throws UsageError.
std::uint64_t seed_of(const std::string& text);

/// What was given, or the environment's TALLY_EFFORT, or 1.
double effort_of(double given);

/// Makes the folder and tries a file there without a name: fails before hours of work, not after. Throws UsageError.
void require_writable(const std::filesystem::path& folder);

/// Throws UsageError for the first of these files in the folder that is there and that Tally did not write: results go
/// over earlier results and nothing else.
void require_replaceable(const std::filesystem::path& folder, const std::vector<std::string>& names);
/// The names of a report's files.
const std::vector<std::string>& report_names();

/// Set by SIGINT and SIGTERM from the first call on.
const std::atomic<bool>& interruption();

}  // namespace tally::command_line
