// Runs a case through the kernels as a training loop would, and returns every tap.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

class Link;     // kernels/ranks/link.hpp
struct Stages;  // kernels/training_step/stages.hpp: one function a stage; a fault replaces one

struct RunOptions {
  ExecutorKind executor = ExecutorKind::host;
  bool accumulate = true;           // false: one micro-batch a window, gradients written directly: no buffer
  std::uint64_t order_seed = 0;     // draws the host GEMM's order of additions for every call; 0: as the case says
  std::uint64_t schedule_seed = 0;  // draws the order in which ready threads run on the host executor; 0: the same
  bool taps = true;  // false: only the final state is kept (parameters, optimizer state, running values),
                     // under the names of the last windows that wrote them
  std::vector<Preemption>* recorded = nullptr;  // where a drawn schedule is noted as a list, or nullptr
  const Stages* stages = nullptr;               // nullptr: the shipped ones
  /// A trace of the same case, made elsewhere: what a stage reads and leaves is recorded, then replaced by the bits
  /// that stand there under the same name. So every stage starts from that run's own bits, and a tap that differs was
  /// made otherwise by its own stage. Needs taps; activations are not computed again. nullptr: none.
  const Trace* follow = nullptr;
  Link* link = nullptr;  // of one rank's run, set by those that run several (run_ranks.hpp); nullptr: it trains alone
  Link* pipe = nullptr;  // the same, to the other stages of the rank's pipeline; nullptr: it holds the whole model
};

/// A case that the built-in training step cannot run; what() says which setting, and what it takes instead.
struct NotSupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws before anything runs InvalidCase for a case that breaks its rules, as one that was made of another may, and
/// NotSupported; DeviceAbsent when the executor's device is not there, CudaError when it is there and fails.
Trace run(const Case& c, const RunOptions& options = {});

}  // namespace tally
