// The processes that a launcher of MPI started together, as it tells each of them before MPI begins.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/ranks/mpi_link.hpp"

namespace tally::command_line {

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

}  // namespace tally::command_line
