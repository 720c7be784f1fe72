// A kernel broke a rule of the machine it runs on: divergence, deadlock, an index out of shared memory, a stack
// overflow.
#pragma once

#include <stdexcept>
#include <string>

namespace tally {

/// The text names the kernel, its launch, the block, the thread and the line.
class ExecutorFinding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tally
