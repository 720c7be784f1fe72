// One case, run in a process of its own: its kernels, what the lenses found rank by rank, and what is kept of it for
// `tally check`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

// A command that runs kernels, in a process of its own: what a kernel does to its process must not go by in silence.

/// What `command`, which throws nothing, returns in a process that ends with it; where the process dies instead, a line
/// that says how, and that the case failed.
int in_own_process(const std::function<int()>& command);

// The kernels that a case chooses, held against those there are.

/// Throws UsageError for a kernel of `execution.kernels` that this subject does not have; it lists those it has.
void require_known_kernels(const Case& c, const RunOptions& subject);

// What the lenses found, rank by rank, for a terminal.

/// A line a rank: its checks, how many failed, were vacuous or not run, and the stage where the first fails; a line for
/// each stage that holds some layers where a pipeline trains the case. Neighbouring ranks of which the same is to say
/// share one line, "1-1023". Empty where one rank trains alone.
std::string rank_table(const Case& c, const std::vector<TensorCheck>& checks);

/// The checks of one rank's taps, and of one stage's of a pipeline; -1: of all.
std::vector<TensorCheck> checks_of(const Case& c, const std::vector<TensorCheck>& checks, int rank, int pipe);

// Where `tally replay` may put a case and its trace.

/// Throws UsageError where the folder has a case.json or a trace.safetensors that Tally did not write, such as a case
/// written by hand.
void require_dump_folder(const std::filesystem::path& folder);

/// Whether the folder has a case and its trace as Tally writes them.
bool holds_dump(const std::filesystem::path& folder);

// A case and the trace of its run, kept for `tally check`.

/// Runs the case and writes FOLDER/case.json and trace.safetensors: both or, where one cannot be made, neither. Returns
/// the trace's bytes.
std::uintmax_t keep_run(const std::filesystem::path& folder, const Case& c, const RunOptions& subject);

// What a failing case left, kept for whoever cannot run it again.

inline constexpr std::size_t dumped_cases = 16;
inline constexpr std::uintmax_t dumped_bytes = 64u << 20;

/// Throws UsageError where FOLDER/failures is something else than a folder.
void require_failures_folder(const std::filesystem::path& folder);

/// FOLDER/failures/<id>/case.json and trace.safetensors of the worst failing cases, as far as the limits go. A case
/// that cannot be run again is left out with a line on standard error: it never changes the verdict.
void dump_failures(const Results& results, const RunOptions& subject, const std::filesystem::path& folder);

}  // namespace tally::command_line
