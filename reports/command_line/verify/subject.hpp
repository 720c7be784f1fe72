// From the command line's words to a subject, and to a description of where it ran.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "properties/laws/law.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

/// Where and under what a case runs.
struct SubjectOptions {
  std::string subject;  // "", "host", "cuda", "checked", "step:LIBRARY", "exec:COMMAND"; empty: the best
                        // device there is
  std::string fault;    // a seeded fault to run with; empty: none
  std::vector<std::string> kernels = {};           // operation=variant, as registered: in place of the shipped ones
  double magnitude = 1;                            // how much of the fault is planted, 0 to 1
  std::string step_memory = "4G";                  // for each process of a step of one's own
  bool in_process = false;                         // a library's step runs in this process
  std::string ranks = "model";                     // who trains cases of several ranks: "model", "mpi:4" (crew.hpp)
  std::string launcher;                            // of MPI, in the place of the one that is found
  bool allow_root = false;                         // a launcher may start ranks as root
  double case_seconds = 0;                         // for one run of such a step; 0: as it is unasked
  const std::atomic<bool>* interrupted = nullptr;  // such a step is not waited for once it is set
};

/// Throws DeviceAbsent for an asked-for device that is not there, UsageError for an unknown fault, StepRefused for a
/// library or command that is no training step.
/// "" takes the GPU where there is one; a GPU or driver that is present and fails is an error, not a fallback.
RunOptions subject_of(const SubjectOptions& options);

/// Whether cases are run by other processes than this program's own stages: a step of a user's own, or a crew.
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

}  // namespace tally::command_line
