// The words that every long run takes: seed, effort, where to write; and how it is interrupted.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

namespace tally::command_line {

/// A positive number; throws UsageError naming the option and what was expected.
double number_of(const std::string& text, const std::string& what, const std::string& expected);

/// A whole number or "random"; throws UsageError.
std::uint64_t seed_of(const std::string& text);

/// What was given, or the environment's TALLY_EFFORT, or 1.
double effort_of(double given);

/// Makes the folder and writes a file there and removes it: fails before hours of work, not after. Throws UsageError.
void require_writable(const std::filesystem::path& folder);

/// Set by SIGINT and SIGTERM from the first call on.
const std::atomic<bool>& interruption();

}  // namespace tally::command_line
