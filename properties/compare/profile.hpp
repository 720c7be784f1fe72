// Where in a failing tensor the errors are: its worst elements, and its errors along the tensor.
#pragma once

#include "oracle/tolerance/expected.hpp"
#include "reports/record/record.hpp"

namespace tally {

inline constexpr std::size_t listed_elements = 8;

/// Fills in the worst elements and the profile of a check that failed. `expected` has as many elements as `got`.
void add_profile(TensorCheck& check, const oracle::Expected& expected, const Tensor& got);

}  // namespace tally
