// What a run of one rank is made of: its layers and parameters on the device, and its windows.
// Defined in build_layers.cpp.
#pragma once

#include <map>
#include <string>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

// A run's layers, parameters and what the optimizer keeps beside them, put on the device.

/// Sizes of what is alive at once: a window's micro-batches in lockstep, one of them otherwise.
struct Alive {
  std::int64_t rows = 0, micro_batches = 1;
  Alive(const Case& c, bool lockstep);
};

/// The tensor of that name, empty where the case has none.
DeviceTensor optional_tensor(Device& on, const Case& c, const std::string& name);

/// Kernels by operation: a stage table's come before the case's.
std::map<std::string, std::string> all_chosen(const Case& c, const Stages& stages);

/// All of them, in model order.
void add_layers(Run& run, const Alive& alive);

// What a run of one rank is made of, for those that put several together.

/// Every window. A rule of the machine that a kernel broke ends the run: what was tapped until then stands.
void run_windows(Run& run);
/// Inputs are read only: they must end with the bits they began with.
void check_inputs(Run& run);
/// A violation for each guard zone that was damaged.
void add_guard_findings(ExecutorKind executor, Trace& trace);

}  // namespace tally
