// From the command line's words to a subject: Tally's own, a user's step, a user's kernels; with the options and
// defaults that several commands share. Defined in subject.cpp, shared_options.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "kernels/subjects/process/step_limits.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/law.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/record/record.hpp"

// What a command takes where its arguments say nothing.
namespace tally::command_line::defaults {

inline const std::string seed = std::to_string(default_seed);
inline const std::string kernel_out = out + "/kernel";  // below it a folder for each subject
inline const std::string case_time = "2m";
inline constexpr int processes = 2;
inline constexpr double effort = 0;  // stands for TALLY_EFFORT, or 1

}  // namespace tally::command_line::defaults

// From the command line's words to a subject, and to a description of where it ran.
namespace tally::command_line {

/// Where and under what a case runs.
struct SubjectOptions {
  std::string subject;  // "", "host", "cuda", "checked", "step:LIBRARY", "exec:COMMAND"; empty: the best
                        // device there is
  std::string fault;    // a seeded fault to run with; empty: none
  std::vector<std::string> kernels = {};  // operation=variant, as registered: in place of the shipped ones
  double magnitude = 1;                   // how much of the fault is planted, 0 to 1
  std::string step_memory = "4G";         // for each process of a step of one's own
  bool in_process = false;                // a library's step runs in this process
  std::string ranks = "model";            // who trains cases of several ranks: "model", "mpi:4" (process_group.hpp)
  std::string launcher;                   // of MPI, in the place of the one that is found
  bool allow_root = false;                // a launcher may start ranks as root
  double case_seconds = 0;                // for one run of such a step; 0: as it is unasked
  const std::atomic<bool>* interrupted = nullptr;  // such a step is not waited for once it is set
};

/// Throws DeviceAbsent for an asked-for device that is not there, UsageError for an unknown fault, StepRefused for a
/// library or command that is no training step.
/// "" takes the GPU where there is one; a GPU or driver that is present and fails is an error, not a fallback.
RunOptions subject_of(const SubjectOptions& options);

/// Whether cases are run by other processes than this program's own stages: a step of a user's own, or a process group.
bool runs_elsewhere(const SubjectOptions& options);

/// From now on this process plants so much of these faults. Throws UsageError where none is named, one has no size, or
/// the magnitude is not in 0 ... 1.
void plant_at(double magnitude, const std::vector<std::string>& faults);

/// Compiler, flags, toolkit, the ledger of assumptions and what was asked to run in place of what is shipped: what the
/// report prints under Environment.
Environment environment_of(const RunOptions& subject, const SubjectOptions& options);

/// The GPU it ran on, or why it ran on none.
std::string device_message(const RunOptions& subject);

/// The storage formats named; throws UsageError with the words allowed.
std::vector<Dtype> precisions_of(const std::vector<std::string>& words);

// A training step of a user's own, named on the command line: `step:LIBRARY` or `exec:COMMAND`.

bool is_own_step(const std::string& subject);

/// Opens or starts it. Throws UsageError for options that speak of Tally's kernels, StepRefused. It lives as long as the
/// program.
RunOptions own_step_subject(const SubjectOptions& options);

/// What such a step may take.
StepLimits step_limits_of(const SubjectOptions& options);

/// Throws UsageError for options that speak of Tally's kernels.
void require_no_kernels(const SubjectOptions& options);
/// This step as the subject.
RunOptions with_own_step(std::unique_ptr<OwnStep> step);

/// `environment` with what is known of where such a step runs.
Environment environment_of_own_step(Environment environment, const SubjectOptions& options);

/// "4G" in bytes. Throws UsageError.
std::uint64_t bytes_of_words(const std::string& text, const std::string& option);

// Options that several commands have, with the same words and defaults.

/// --subject alone.
void add_subject_name(CLI::App& command, std::string& subject, const std::string& what);
/// --subject, --fault, --magnitude and --kernel.
void add_subject(CLI::App& command, SubjectOptions& options);
/// For Option::check(). CLI11's own names the largest of all numbers, in 309 digits.
CLI::Validator above_zero();
CLI::Option* add_effort(CLI::App& command, double& effort);
void add_seed(CLI::App& command, std::string& seed);
/// --out with its default; `what` says what goes into the folder.
void add_out(CLI::App& command, std::string& out, const std::string& what);
void add_processes(CLI::App& command, int& processes);
/// --all, of what else is cut to what fits on a screen.
void add_all(CLI::App& command, bool& all);

// Where the source of a kernel stands.

/// The file below the repository that a kernel was registered in; of the products of a linear layer, which no kernel of
/// Tally's own makes, where they are made; empty where it is not known.
std::string file_of(const std::string& operation, const std::string& variant);

// What a program of a user's own kernels must hold before it runs.

/// Throws UsageError, which names the file and what is expected there, for a kernel that was compiled against other
/// headers than this program, one that add_equivalence_test asks for and no file of its registers, an operation that no
/// step runs, and a kernel that takes other arguments than its operation's.
void require_plugins();

}  // namespace tally::command_line
