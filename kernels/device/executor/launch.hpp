// Runs one launch on the calling operating-system thread: block after block, each block's threads as lazy fibres.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <stdexcept>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/host/indices.hpp"

namespace tally {

/// A kernel broke a rule of the machine it runs on: divergence, deadlock, an index out of shared memory, a stack
/// overflow. The text names the kernel, its launch, the block, the thread and the line.
class ExecutorFinding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tally

namespace tally::executor {

struct Launch {
  dim3 blocks, threads;
  std::size_t shared_bytes = 0;
  ScheduleSource schedule;  // empty: threads run in order
  bool checked = false;     // compiled with hooks: memory accesses are checked, and may be interrupted
  const char* kernel = "";  // its name, for findings
  std::source_location at = {};
  /// Calls run_threads_of_launch(); what it leaves on its stack is dropped without destructors.
  void (*run_threads)(const void* arguments) = nullptr;
  const void* arguments = nullptr;
  std::size_t argument_bytes = 0;
};

/// Throws std::invalid_argument for a shape no device accepts.
void check_shape(const Launch& launch);

/// Throws ExecutorFinding, std::invalid_argument for a shape no device accepts, and whatever a kernel throws. After a
/// throw the executor is ready for the next launch; the threads that had not ended are dropped where they stood.
void run(const Launch& launch);

}  // namespace tally::executor
