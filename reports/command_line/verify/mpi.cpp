// Which MPIs there are, and the processes that one started.
#include "reports/command_line/verify/mpi.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "kernels/device/device.hpp"
#include "kernels/ranks/nccl_link.hpp"
#include "reports/command_line/output.hpp"

namespace tally::command_line {
namespace {

struct Mpi {
  const char* name;                      // of its module: "openmpi"
  const char* banner;                    // in what its launcher says of itself
  const char *size, *rank;               // that its launcher sets in each process
  const char* options;                   // for more ranks than cores
  std::array<const char*, 2> launchers;  // "mpirun.openmpi"
};
constexpr std::array<Mpi, 2> known{Mpi{"openmpi",
                                       "open-mpi.org",
                                       "OMPI_COMM_WORLD_SIZE",
                                       "OMPI_COMM_WORLD_RANK",
                                       "--oversubscribe --mca mpi_yield_when_idle 1",
                                       {"mpirun.openmpi", "mpirun"}},
                                   Mpi{"mpich", "HYDRA", "PMI_SIZE", "PMI_RANK", "", {"mpirun.mpich", "mpirun"}}};

std::filesystem::path own_folder() { return std::filesystem::canonical("/proc/self/exe").parent_path(); }

std::string module_of(const Mpi& mpi) { return own_folder() / ("tally_mpi_" + std::string(mpi.name) + ".so"); }

bool has_module(const Mpi& mpi) { return std::filesystem::exists(module_of(mpi)); }

/// The first lines that a command prints.
std::string said_by(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>/dev/null </dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr && text.size() < 4096) text += part.data();
  pclose(pipe);
  return text;
}

/// Which MPI a launcher is of.
const Mpi* mpi_of(const std::string& launcher) {
  const std::string text = said_by(launcher + " --version");
  for (const Mpi& mpi : known)
    if (text.find(mpi.banner) != std::string::npos) return &mpi;
  return nullptr;
}

std::string launcher_found(const Mpi& mpi) {
  for (const char* launcher : mpi.launchers)
    if (mpi_of(launcher) == &mpi) return launcher;
  return "";
}

std::string number_of_ranks(const std::string& text, const std::string& ranks) {
  const bool digits = !text.empty() && text.size() < 5 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoi(text) < 2)
    throw UsageError("--ranks: '" + ranks + "'; expected model, mpi:N or nccl:N with two ranks or more");
  return text;
}

}  // namespace

std::optional<int> group_size(const std::string& ranks) {
  if (ranks.empty() || ranks == "model") return std::nullopt;
  const bool known = adds_by_nccl(ranks) || ranks.starts_with("mpi:");
  return std::stoi(number_of_ranks(known ? ranks.substr(ranks.find(':') + 1) : "", ranks));
}

bool adds_by_nccl(const std::string& ranks) { return ranks.starts_with("nccl:"); }

Launch group_launch(int ranks, const std::string& launcher, bool allow_root) {
  std::string words = launcher;
  const Mpi* mpi = words.empty() ? nullptr : mpi_of(words);
  if (!words.empty() && mpi == nullptr)
    throw UsageError("--launcher: '" + words +
                     "' is not a launcher of Open MPI or MPICH; `./tally doctor` names those");
  for (const Mpi& each : known) {
    if (mpi != nullptr || !has_module(each)) continue;
    if (words = launcher_found(each); !words.empty()) mpi = &each;
  }
  const bool any_module = std::ranges::any_of(known, has_module);
  if (mpi == nullptr && any_module)
    throw UsageError(
        "--ranks: found no mpirun of an MPI that this tally has a module for; expected mpirun.openmpi, "
        "mpirun.mpich or mpirun on the PATH, or --launcher (`./tally doctor` names the modules)");
  if (mpi == nullptr || !has_module(*mpi))
    throw UsageError("--ranks: this tally has no module for " + std::string(mpi == nullptr ? "an MPI" : mpi->name) +
                     " that starts here; expected Open MPI or MPICH when it is built (`./tally doctor`), or model");
  const bool asks = geteuid() == 0 && std::string(mpi->name) == "openmpi";
  if (asks && launcher.empty() && !allow_root && std::getenv("OMPI_ALLOW_RUN_AS_ROOT") == nullptr)
    throw UsageError("--ranks: Open MPI starts nothing as root unless it is allowed to; --allow-root allows it");
  const bool root = asks && allow_root;
  const std::string self = std::filesystem::canonical("/proc/self/exe");
  // What the launcher itself prints is no answer: these take a way of their own.
  return {words, "exec 3>&1; exec " + words + (root ? " --allow-run-as-root " : " ") + mpi->options + " -n " +
                     std::to_string(ranks) + " '" + self + "' crew --answers /proc/$$/fd/3 >&2"};
}

std::string mpi_lines() {
  std::string text;
  for (const Mpi& mpi : known) {
    const std::string launcher = launcher_found(mpi);
    text += "mpi       " + std::string(mpi.name) + ": " + (has_module(mpi) ? "module built" : "built without it") +
            (launcher.empty() ? ", no launcher found" : ", started by " + launcher) + "\n";
  }
  try {
    text += "nccl      " + nccl_version() + "\n";
  } catch (const DeviceAbsent& reason) {
    text += std::string("nccl      not run: ") + reason.what() + "\n";
  }
  return text;
}

Launched launched() {
  for (const Mpi& mpi : known) {
    const char *const size = std::getenv(mpi.size), *const rank = std::getenv(mpi.rank);
    if (size != nullptr) return {module_of(mpi), rank == nullptr ? 0 : std::atoi(rank), std::atoi(size)};
  }
  throw UsageError("crew: no launcher of MPI started this process; `./tally verify --ranks mpi:4` starts one");
}

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
