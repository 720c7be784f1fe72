// Whether elements are whole numbers, and the ratio to its bound of one that is not bounded.
#pragma once

#include <limits>

#include "oracle/case/tensor.hpp"

namespace tally {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

inline bool is_integer(Dtype dtype) { return dtype == Dtype::i64 || dtype == Dtype::u8; }

}  // namespace tally
