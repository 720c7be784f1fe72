// Elements of a tensor on the device changed from the host, the place where that is done, drawn from the case, and the
// fault with a knob: a weight gradient times 1 + theta.
#pragma once

#include <functional>
#include <string_view>

#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally {

// Elements of a tensor on the device, changed from the host: for faults that need no kernel of their own.

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

// Where a fault hits, drawn from the case: the same place in every run of the same case.

/// A number in 0 ... count - 1, drawn from the case's batch and the word; count > 0.
std::size_t drawn(const Run& run, std::string_view word, std::size_t count);

/// The one parameter that is hit. Throws NotSupported where there is none, on a rank whose pieces are all empty.
Parameter& drawn_parameter(Run& run);

// A fault with a knob: every weight gradient of a linear layer is multiplied by 1 + theta before it is stored. For
// measuring how small a wrong factor is still seen; it is no row of the catalogue.

/// The shipped stages with that factor in the product's epilogue. The factor holds for this process, until the next
/// call. The stages live as long as the program.
const Stages& with_scaled_weight_gradients(double theta);

}  // namespace tally
