// Some rows of a tensor, as a tensor of its own.
#pragma once

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// Rows [first, first + count) of a tensor whose first dimension counts rows.
Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count);

/// Equal dtype, shape and bytes, compared as one block.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace tally
