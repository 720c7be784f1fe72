// Ranks of MPI that train cases together: the launcher's command line, and what each process of the crew does.
#pragma once

#include <optional>
#include <string>

namespace tally::command_line {

/// `mpi:4` of --ranks: how many processes. nullopt for `model`, and nothing asked. Throws UsageError for other words.
std::optional<int> crew_size(const std::string& ranks);

/// The command that starts a crew of as many ranks of this program. `launcher`, split at blanks by the shell, is its
/// first words; empty: mpirun of whichever MPI is found. Throws UsageError where there is none, or no module for it.
std::string crew_command(int ranks, const std::string& launcher, bool allow_root);

/// One line for each MPI: its launcher, whether this program has a module for it, and what is missing.
std::string mpi_lines();

/// What a process of the crew does until its first rank's input ends: cases are read there, as a step of one's own
/// reads them (kernels/subjects/process/process.md), trained by all, and answered, in the file named or on standard
/// output. Returns the exit code.
int run_crew(double seconds, const std::string& answers);

}  // namespace tally::command_line
