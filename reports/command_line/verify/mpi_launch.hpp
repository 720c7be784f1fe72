// Which MPIs there are: a module of this program for each, and the launcher that starts processes which it joins.
#pragma once

#include <optional>
#include <string>

namespace tally::command_line {

/// `mpi:4` or `nccl:4` of --ranks: how many processes. nullopt for `model`, and nothing asked. Throws UsageError for
/// other words.
std::optional<int> crew_size(const std::string& ranks);
/// Whether it is `nccl:4`.
bool adds_by_nccl(const std::string& ranks);

/// How a crew is started.
struct Launch {
  std::string launcher;  // "mpirun.openmpi"
  std::string command;   // for a shell; more words behind it go to every rank: " --wait 2"
};
/// So many ranks of this program. `launcher`, split at blanks by the shell, is the command's first words; empty: mpirun
/// of whichever MPI is found. Throws UsageError where there is no launcher, or no module for it.
Launch crew_launch(int ranks, const std::string& launcher, bool allow_root);

/// One line for each MPI: its launcher, whether this program has a module for it, and what is missing; and for NCCL.
std::string mpi_lines();

/// One process among those that a launcher started, by what the launcher told it.
struct Launched {
  std::string module;  // of its MPI
  int rank, ranks;
};
/// Throws UsageError where no launcher started this process.
Launched launched();

}  // namespace tally::command_line
