// A table whose rows are looked up by a number a row (embedding.1), and the gradient of such a table (embedding.2).
#pragma once

#include <cstdint>

#include "oracle/tolerance/as_written.hpp"
#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// The rows of the table that index [rows, 1] names, as they stand there.
Expected looked_up_rows(const Expected& table, const Matrix<long double>& index);

/// `exact` with the bound of dW [rows of the table, columns of dy]: of each row of the table a sum over its own rows of
/// dy, by the claim of `embedding.gradient`, stored. Row `except` takes nothing.
Expected table_gradient(const Declared& declared, Matrix<long double> exact, Eigen::Index table_rows,
                        const Matrix<long double>& index, const Expected& dy, std::int64_t except = -1);

/// Its bits, where the claim adds each row's own in the order of their rows (`in_order`).
Prediction predicted_table_gradient(const Declared& declared, Eigen::Index table_rows, const Tensor& index,
                                    const Matrix<float>& dy, std::int64_t except = -1);

}  // namespace tally::oracle
