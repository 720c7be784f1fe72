// Ranks of MPI that train cases together: what each process of the crew does.
#pragma once

#include <string>

namespace tally::command_line {

struct CrewOptions {
  double seconds = 30;  // that a rank waits for another
  std::string answers;  // file of the first rank's answers; empty: standard output
  std::string board;    // where the crew's board is (crew_board.hpp); empty: there is none
  bool nccl = false;    // sums by the library are NCCL's, on each process's GPU; else MPI's
};

/// What a process of the crew does until its first rank's input ends: cases are read there, as a step of one's own
/// reads them (kernels/subjects/process/process.md), trained by all, and answered. A rank that waits too long for
/// another ends them all. Returns the exit code.
int run_crew(const CrewOptions& options);

}  // namespace tally::command_line
