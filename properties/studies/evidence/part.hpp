// The parts of training that evidence is counted by: a stage, and the kind of layer, loss or recipe section it serves.
#pragma once

#include <string>
#include <string_view>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// "forward linear", "backward gelu_tanh", "loss mse", "optimizer adam", "norm".
std::string part_of(const Case& c, const TapName& tap);

/// The part whose tensors a kernel of this operation makes: "backward linear" for "linear.bias_gradient".
std::string part_of_operation(std::string_view operation);

}  // namespace tally
