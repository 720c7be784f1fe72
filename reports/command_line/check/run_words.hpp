// What many commands take and show: where results are kept, case files, stored results, seed, effort, interruption,
// progress. Defined in run_words.cpp, not_judged.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

// Where results are kept when no argument says otherwise.
namespace tally::command_line::defaults {

inline const std::string out = "tally-out";
inline const std::string results = out + "/results.json";

}  // namespace tally::command_line::defaults

// Progress on standard error: one line that moves on a terminal, plain lines elsewhere.
namespace tally::command_line {

/// "[3/12] title" as "[######..................] 3/12 title", the bar `width` wide; other lines as they are.
std::string progress_bar(const std::string& line, std::size_t width);

void show_progress(const std::string& line);

// The case file that a command is given; what is wrong with it is said with the file's name.

/// Throws UsageError.
Case case_in(const std::string& file);

/// Whether its first bytes are those of a safetensors file: the length of a header, and the header's brace.
bool begins_as_safetensors(const std::string& file);

// Documents that earlier runs left. Throws UsageError naming the file and what was expected.

Results results_of(const std::string& file);
Study study_at(const std::string& file);

// The words that every long run takes: seed, effort, where to write; and how it is interrupted.

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
