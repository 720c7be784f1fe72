// MPI: which there are, the processes that one started, and a campaign that they share out. Defined in mpi.cpp,
// across.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ranks/mpi_link.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/campaign/coordinator.hpp"

namespace tally::command_line {

// Which MPIs there are: a module of this program for each, and the launcher that starts processes which it joins.

/// `mpi:4` or `nccl:4` of --ranks: how many processes. nullopt for `model`, and nothing asked. Throws UsageError for
/// other words.
std::optional<int> group_size(const std::string& ranks);
/// Whether it is `nccl:4`.
bool adds_by_nccl(const std::string& ranks);

/// How a process group is started.
struct Launch {
  std::string launcher;  // "mpirun.openmpi"
  std::string command;   // for a shell; more words behind it go to every rank: " --wait 2"
};
/// So many ranks of this program. `launcher`, split at blanks by the shell, is the command's first words; empty: mpirun
/// of whichever MPI is found. Throws UsageError where there is no launcher, or no module for it.
Launch group_launch(int ranks, const std::string& launcher, bool allow_root);

/// One line for each MPI: its launcher, whether this program has a module for it, and what is missing; and for NCCL.
std::string mpi_lines();

/// One process among those that a launcher started, by what the launcher told it.
struct Launched {
  std::string module;  // of its MPI
  int rank, ranks;
};
/// Throws UsageError where no launcher started this process.
Launched launched();

// The processes that a launcher of MPI started together, as it tells each of them before MPI begins.

struct MpiWorld {
  std::string mpi;  // "openmpi": whose module joins them
  int rank = 0, size = 0;
};

/// The world of this process: of mpirun (Open MPI), mpiexec (MPICH), or srun with PMIx or PMI-2. Nothing where no
/// launcher started it. Throws UsageError where srun did and gave its processes no way to each other.
std::optional<MpiWorld> world_of_launcher();

/// Begins MPI. A world of another size than the launcher said is refused: processes that MPI leaves alone would each do
/// everything. Throws std::runtime_error, and where this program has no module for that MPI UsageError.
std::unique_ptr<MpiLink> joined(const MpiWorld& world, double seconds);

// A campaign over machines: processes that MPI joins, each with workers of its own, share its pieces out while it runs.

struct AcrossOptions {
  std::filesystem::path out;  // one folder, which all processes see
  std::string campaign;       // in words, all that decides what is drawn
  int processes = 2;          // workers of each process
  bool resume = false;        // go on from the journal in `out`
  double lost_after = 60;     // seconds that a process may be silent
};

/// What the first process has when all is run, or was stopped.
struct AcrossRun {
  std::vector<std::string> answers;  // by number; empty where a piece was not run
  std::string facts;                 // who ran what, how long it took: JSON, for run.json
  Journal journal;
  std::unique_ptr<MpiLink> left;  // where a process is lost: to be aborted once all is written; else nothing
};

/// Takes part as what the launcher made of this process. Nothing in all processes but the first. `check`, called in the
/// first once all have met, throws where its folder will not do: then all end. A campaign's `processes` becomes that of
/// all machines. Throws UsageError where no launcher of MPI started this process.
std::optional<AcrossRun> run_across(CampaignOptions& campaign, const AcrossOptions& options,
                                    const std::function<void()>& check);

}  // namespace tally::command_line
