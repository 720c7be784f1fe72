// A run's layers, parameters and what the optimizer keeps beside them, put on the device.
#pragma once

#include <map>
#include <string>

#include "kernels/training_step/run_state.hpp"

namespace tally {

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

}  // namespace tally
