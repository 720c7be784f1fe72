// The device memory a run takes, counted buffer by buffer.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kernels/training_step/run.hpp"

namespace tally {

/// What a buffer of the training step is for, from its name:
/// "data" (the batch, its targets, weights and masks), "parameters" (master and running values), "storage copies" (of
/// the parameters), "gradients" (of a micro-batch, accumulated with its compensation, unscaled), "optimizer state",
/// "activations" (outputs, their gradients, statistics that backward needs, losses), "workspace" (scalars and partial
/// sums), "host memory" (all that steps where the step is offloaded); of a stage of a pipeline "kept activations" (of
/// micro-batches that are still to go back), "received activations" (of those, from the part before) and "received
/// gradients". "unknown" for any other name.
std::string memory_kind(const std::string& buffer_name);

struct MemoryUse {
  std::size_t peak = 0;                      // of everything at once; 0 of one rank among several
  std::map<std::string, std::size_t> kinds;  // each kind's own peak; kinds that took nothing are left out
  std::size_t of(const std::string& kind) const;
};

/// Runs the case (without taps) and counts. The device must be idle. cuBLAS's workspace, the same for every case, is
/// not counted. Throws what run() throws.
MemoryUse memory_of(const Case& c, RunOptions options);
/// The same of each rank, or stage of a pipeline, where several train in this process.
std::vector<MemoryUse> memory_of_ranks(const Case& c, RunOptions options);

}  // namespace tally
