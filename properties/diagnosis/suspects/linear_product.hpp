// The product of a linear layer's forward, with another arithmetic than declared.
#pragma once

#include <functional>
#include <optional>

#include "properties/diagnosis/suspect.hpp"

namespace tally {

/// y = x W^T + b, where the product's sum takes each term by `add(sum, x, w)` in the order of the columns, is rounded
/// to the tensor's format, and takes the bias. nullopt where the tensor is no linear layer's output, or a tap is
/// missing.
std::optional<Values> linear_product(const Evidence& evidence, const HeldTensor& held,
                                     const std::function<double(double sum, double x, double w)>& add);

}  // namespace tally
