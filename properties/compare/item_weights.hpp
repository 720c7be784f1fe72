// The item weights of some rows, exactly.
#pragma once

#include "oracle/case/case.hpp"
#include "oracle/real/matrix.hpp"

namespace tally {

/// [1, rows].
oracle::Matrix<long double> item_weights(const Case& c, std::int64_t first_row, std::int64_t rows);

}  // namespace tally
