// The weight gradient of a linear layer, with another sum than declared.
#pragma once

#include <functional>
#include <optional>

#include "properties/diagnosis/evidence.hpp"

namespace tally {

/// dW = dy^T x over the micro-batch's first `rows(all rows)` rows, where every operand is read by `operand`. nullopt
/// where the tensor is no weight gradient of a linear layer, or a tap is missing.
std::optional<Values> weight_gradient(const Evidence& evidence, const HeldTensor& held,
                                      const std::function<std::size_t(std::size_t)>& rows,
                                      const std::function<double(double)>& operand);

}  // namespace tally
