// Elements of a tensor on the device, changed from the host: for faults that need no kernel of their own.
#pragma once

#include <functional>

#include "kernels/training_step/run_state.hpp"

namespace tally {

/// The new value of element i, which held `value`; rounded to the tensor's format. A value given back keeps its bits.
using Change = std::function<double(std::size_t i, double value)>;

/// Works after everything the run has launched.
void change(Run& run, void* address, Dtype dtype, std::int64_t elements, const Change& each);
void change(Run& run, const DeviceTensor& tensor, const Change& each);
/// Cleared at magnitude 1; below, every element fades to that extent.
void fade(Run& run, DeviceTensor& tensor);

/// The same, before a launch that is not the run's own.
void change(Device& on, void* address, Dtype dtype, std::int64_t elements, const Change& each);

/// A copy of device memory.
Tensor read(Run& run, const void* address, Dtype dtype, std::vector<std::int64_t> shape);

}  // namespace tally
