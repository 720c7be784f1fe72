#include "reports/command_line/verify/mpi_world.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {
namespace {

/// What a way of launching sets in each process.
struct LaunchVariables {
  const char *mpi, *size, *rank;
};
constexpr std::array<LaunchVariables, 2> launches{
    LaunchVariables{"openmpi", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    LaunchVariables{"mpich", "PMI_SIZE", "PMI_RANK"}};  // srun --mpi=pmi2 as well

std::optional<int> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::atoi(text);
}

std::filesystem::path module_path_of(const std::string& mpi) {
  return std::filesystem::canonical("/proc/self/exe").parent_path() / ("tally_mpi_" + mpi + ".so");
}

}  // namespace

std::optional<MpiWorld> world_of_launcher() {
  for (const LaunchVariables& launch : launches) {
    const auto size = number_in(launch.size), rank = number_in(launch.rank);
    if (size && rank) return MpiWorld{launch.mpi, *rank, *size};
  }
  const auto size = number_in("SLURM_STEP_NUM_TASKS"), rank = number_in("SLURM_PROCID");
  if (!std::getenv("SLURM_STEP_ID") || !size || !rank) return std::nullopt;
  if (!std::getenv("PMIX_RANK"))
    throw UsageError(
        "--across: srun started this process without PMIx and PMI-2; expected srun --mpi=pmix (Open MPI) "
        "or --mpi=pmi2 (MPICH), whichever `srun --mpi=list` names");
  return MpiWorld{"openmpi", *rank, *size};
}

std::unique_ptr<MpiLink> joined(const MpiWorld& world, double seconds) {
  const std::filesystem::path module = module_path_of(world.mpi);
  if (!std::filesystem::exists(module))
    throw UsageError("--across: this tally was built without " + world.mpi +
                     ", whose launcher started it; expected a launcher that `./tally doctor` names");
  auto link = open_mpi_link(module, seconds);
  if (link->size() != world.size)
    throw std::runtime_error("--across: the launcher said that it started " + std::to_string(world.size) +
                             " processes, and " + link->library() + " found " + std::to_string(link->size()) +
                             ": each would run the whole campaign; expected a launcher of that MPI");
  return link;
}

}  // namespace tally::command_line
